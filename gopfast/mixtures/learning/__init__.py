"""What is learnt beside a tree: the protocol, steps that can be interrupted and repeated, one after another."""
