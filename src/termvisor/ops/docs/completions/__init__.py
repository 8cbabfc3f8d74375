"""Scripts that let a shell complete our command lines, made from the operations' declarations."""
