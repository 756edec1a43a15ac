"""Tables to try things on: a made-up hospital, a made-up survey of illnesses, and UCI's Adult."""

from shoal.data.datasets.adult import ADULT_COLUMNS as ADULT_COLUMNS
from shoal.data.datasets.adult import ADULT_EVENT as ADULT_EVENT
from shoal.data.datasets.adult import ADULT_QI as ADULT_QI
from shoal.data.datasets.adult import ADULT_ROWS as ADULT_ROWS
from shoal.data.datasets.adult import ADULT_SENSITIVE as ADULT_SENSITIVE
from shoal.data.datasets.adult import adult as adult
from shoal.data.datasets.hospital import HOSPITAL_EVENT as HOSPITAL_EVENT
from shoal.data.datasets.hospital import HOSPITAL_QI as HOSPITAL_QI
from shoal.data.datasets.hospital import HOSPITAL_SENSITIVE as HOSPITAL_SENSITIVE
from shoal.data.datasets.hospital import hospital as hospital
from shoal.data.datasets.hospital import hospital_distribution as hospital_distribution
from shoal.data.datasets.illnesses import ILLNESSES as ILLNESSES
from shoal.data.datasets.illnesses import ILLNESSES_QI as ILLNESSES_QI
from shoal.data.datasets.illnesses import illnesses as illnesses
