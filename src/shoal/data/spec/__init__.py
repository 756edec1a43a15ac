"""What is asked: column roles, protected events, how strongly, against whom."""

from shoal.data.spec.checks import checked_r as checked_r
from shoal.data.spec.checks import checked_seed as checked_seed
from shoal.data.spec.checks import checked_whole as checked_whole
from shoal.data.spec.events import Event as Event
from shoal.data.spec.events import as_event as as_event
from shoal.data.spec.events import parse_event as parse_event
from shoal.data.spec.person import ROWS_OF_PERSON as ROWS_OF_PERSON
from shoal.data.spec.person import RowRule as RowRule
from shoal.data.spec.recipe import RARE as RARE
from shoal.data.spec.recipe import Codebook as Codebook
from shoal.data.spec.recipe import Recipe as Recipe
from shoal.data.spec.recipe import Variable as Variable
from shoal.data.spec.spec import LIMITS as LIMITS
from shoal.data.spec.spec import MAX_QI as MAX_QI
from shoal.data.spec.spec import MISSING as MISSING
from shoal.data.spec.spec import OTHER as OTHER
from shoal.data.spec.spec import InputWarning as InputWarning
from shoal.data.spec.spec import Limit as Limit
from shoal.data.spec.spec import Spec as Spec
from shoal.data.spec.spec import band_name as band_name
from shoal.data.spec.spec import check_keys as check_keys
from shoal.data.spec.spec import support_for as support_for
