"""A table of people, coded as integers and compressed to signatures."""

from shoal.arrays import IntArray as IntArray
from shoal.data.table.coding import Column as Column
from shoal.data.table.coding import code_column as code_column
from shoal.data.table.coding import digits as digits
from shoal.data.table.coding import factorize as factorize
from shoal.data.table.table import Everybody as Everybody
from shoal.data.table.table import Table as Table
