"""What changes places as a whole in a test: rows, clusters or bins, with the sums of kernels over them."""
