# The public names of bisector, grouped by family. `__init__.py` reads this list too: a name added here
# is public, and nowhere else needs a line.

from .catalogue import all_estimators as all_estimators
from .engine.progress import progress as progress
from .engine.settings import config as config
from .linear import LinearRegression as LinearRegression

__version__: str
__all__: list[str]
