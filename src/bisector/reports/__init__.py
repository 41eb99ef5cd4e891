"""Reports: a table in, one page out; and models in files that hold no code."""

from .columns import Column as Column, describe_columns as describe_columns
from .encoding import TableEncoder as TableEncoder
from .faults import DataFault as DataFault, ModelFileFault as ModelFileFault, TableFault as TableFault
from .reading import read_blocks as read_blocks, read_table as read_table
