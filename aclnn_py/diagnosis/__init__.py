"""From a status code to the argument, the rule, the cause and a reproducer.

Nothing is imported here: `import aclnn_py` stays fast, and each part loads when it is first used.
"""
