"""Questions asked of whole tables: compare, dependence, density, estimate; their results, pages and pictures."""
