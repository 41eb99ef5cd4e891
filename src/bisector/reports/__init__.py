"""Reports: a table in, one page out; and models in files that hold no code."""

from .built_ins import as_table as as_table, built_in as built_in
from .columns import Column as Column, describe_columns as describe_columns
from .encoding import TableEncoder as TableEncoder
from .faults import DataFault as DataFault, ModelFileFault as ModelFileFault, TableFault as TableFault
from .reading import read_blocks as read_blocks, read_table as read_table
from .target import split_target as split_target
