"""The numerics that methods share: functions of similarities and temperatures, nothing else."""
