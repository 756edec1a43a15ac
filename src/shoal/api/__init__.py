"""The public face: each verb takes a table in any form, and a spec."""
