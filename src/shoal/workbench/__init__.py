"""The workbench: the command line with a face, for one project folder, on this machine alone.

It does no long work itself. A run is a command that a process of its own carries out
(`shoal.workbench.project`); pages write the draft, start runs, and show what is in the folder.
"""
