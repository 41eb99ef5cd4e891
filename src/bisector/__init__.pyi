# The public names of bisector, grouped by family. `__init__.py` reads this list too: a name added here
# is public, and nowhere else needs a line.

from .catalogue import all_estimators as all_estimators
from .engine.settings import config as config
from .engine.progress import progress as progress
from .linear import LinearRegression as LinearRegression

__version__: str
