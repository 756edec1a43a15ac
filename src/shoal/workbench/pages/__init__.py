"""The pages, one module each: what is shown, and what their forms do."""
