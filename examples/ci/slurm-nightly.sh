#!/bin/bash
# Every night: train for a while, compare with the baseline, send mail where it is surely slower.
# sbatch examples/ci/slurm-nightly.sh; the job fails where the check does.
#SBATCH --job-name=step-time
#SBATCH --nodes=1
#SBATCH --gpus-per-node=1
#SBATCH --time=00:30:00
#SBATCH --mail-type=FAIL
#SBATCH --output=step-time-%j.log
set -euo pipefail

# What is recorded.
train=${TRAIN:-"python train.py --steps 60"}
baseline=${BASELINE:-baseline.json}
rules=${RULES:-examples/ci/step-time.yaml}
folder=${FOLDER:-runs/nightly-${SLURM_JOB_ID:-local}}

runs=()
for run in 1 2 3; do
  # RECORD: another command that writes a run into the folder it is given.
  if [ -n "${RECORD:-}" ]; then
    $RECORD "$folder/$run"
  else
    srun stepscope run --out "$folder/$run" -- $train
  fi
  runs+=("$folder/$run")
done

if [ ! -e "$baseline" ]; then
  stepscope check "${runs[@]}" --rules "$rules" --write-baseline "$baseline"
  exit 0
fi
stepscope check "${runs[@]}" --baseline "$baseline" --rules "$rules" --junit "$folder/step-time.xml"
