"""The report: one HTML page that says what an audit found, for people who decide.

    Audit + Table (+ Release) -> Facts (plain data) -> charts (Vega-Lite) + words -> one HTML file

Two editions: *internal*, with the most exposed rows, and *public*, where nothing belongs to fewer
than five people. Facts can be kept beside a release's private records and rendered again.
"""
