"""How HSIC is summed over all permutations at once: by rotations, or one permutation after another."""
