"""Side by side with the peers, as ratios: ``python -m benchmarks --list`` shows what can be raced.

A family of workloads is one file of this folder that defines ``WORKLOADS`` (see ``linear_regression.py``);
nothing else has to be registered. The other files are the harness, in the order in which a run meets them:

``workload``   what is raced: data, contestants, goals, tolerance
``families``   finds the workloads
``race``       lets ours and a peer take turns, each in a process of its own
``process``    the master's end of such a process; ``worker`` is the other end
``measure``    the clocks; ``memory`` the peak of one call; ``machine`` the surroundings
``agreement``  compares the answers; ``ratios`` judges the times
``results``    what is stored; ``page`` what is shown of it
"""
