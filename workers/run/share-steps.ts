// The steps of a share in its phase, and the operators that replace the keyed step of a plan in the phases `scatter` and
// `match` (execution/keys/row-streams.ts explains the phases). compute-streams.ts has the steps of the phase `compute`.
import { storedTypes } from '../batch/schema.ts';
import { MergedGroupFiles, type PartGroupFiles } from '../execution/aggregate/partial-groups.ts';
import { RowMatch, RowScatter } from '../execution/keys/row-streams.ts';
import { withOrderCheck } from '../execution/sort/numbers-as-text.ts';
import type { SortedPartFiles, SortedRangeFiles } from '../execution/sort/sorted-parts.ts';
import { StreamFile, StreamFiles } from '../execution/spill/stream-files.ts';
import { SpillFolder } from '../memory/spill-file.ts';
import { exchangeStep, type KeyedStep, keyedStep, mergesGroups, type PlannedStep, type RunPlan } from '../plan/plan.ts';
import { exchangeFolder, type KeyPhase, type RunTask } from '../protocol/messages.ts';
import type { Operator, OperatorContext } from '../template/operation.ts';

/** The steps that one task runs. */
export interface ThreadSteps {
  readonly plan: RunPlan;
  /** The last step writes these groups, or the first step merges them; null: no groups. */
  readonly groups: PartGroupFiles | MergedGroupFiles | null;
  /** Replaces the step whose rows are processed by key; null: nothing is replaced. */
  readonly keyed: KeyedOperator | null;
  /** The last step writes these sorted rows, or writes ranges of them to the output; null: no sorted rows. */
  readonly sorted: SortedPartFiles | SortedRangeFiles | null;
}

/** The files in which one share exchanges rows or groups with the others. */
export interface ShareFiles {
  /** Receives the groups of the parts, if a last task merges the groups of all threads. */
  readonly groups: PartGroupFiles;
  /** Files of a Run whose rows are processed by key. */
  readonly keyed: KeyedParts;
  /** Receives the sorted rows of the parts, if the threads then write ranges of the order. */
  readonly sorted: SortedPartFiles;
  /** The sorted rows of all threads, if the Run writes them in ranges instead of reading parts. */
  readonly ranges: SortedRangeFiles | null;
}

/** The properties of a Run on which its steps depend. */
interface PhaseOfRun {
  readonly task: RunTask;
  /** Set if the Run is a share. */
  readonly parts?: ShareFiles;
}

/**
 * Chooses the steps of a task. If one thread processes the file, or if no step needs rows of other parts, these are all
 * steps. Otherwise they depend on the phase:
 *
 * - groups: the steps up to the one that groups; the last task merges the groups and runs the remaining steps
 * - sorted rows: all steps; then only the last one, which writes the ranges
 * - rows by key: scatter: the steps up to the keyed one; match: all steps. Another operator replaces the keyed step.
 *   compute-streams.ts runs the keyed step itself.
 */
export function stepsOfThread({ task, parts }: PhaseOfRun, plan: RunPlan): ThreadSteps {
  const index = exchangeStep(plan);
  if (task.groups !== undefined) {
    const { names, rowsBefore } = task.groups;
    const groups = new MergedGroupFiles(exchangeFolder(task), names, rowsBefore);
    return { plan: { ...plan, steps: plan.steps.slice(index) }, groups, keyed: null, sorted: null };
  }
  if (parts === undefined || index < 0) return { plan, groups: null, keyed: null, sorted: null };
  const { keyed, groups, sorted, ranges } = parts;
  const none = { groups: null, keyed: null };
  if (ranges !== null) return { plan: { ...plan, steps: plan.steps.slice(index) }, ...none, sorted: ranges };
  if (plan.steps[index]!.definition.sortsParts === true) {
    sorted.isUsed = true;
    return { plan, ...none, sorted };
  }
  const step = keyedStep(plan);
  if (step !== null && keyed.phase === 'match') return { plan, groups: null, keyed: keyed.matchOf(step), sorted: null };
  const beginning = { ...plan, steps: plan.steps.slice(0, index + 1) };
  if (step !== null && !mergesGroups(plan.steps[index]!))
    return { plan: beginning, groups: null, keyed: keyed.scatterOf(step), sorted: null };
  groups.isUsed = true;
  return { plan: beginning, groups, keyed: null, sorted: null };
}

// The keyed step.

/** Replaces the keyed step of a plan. */
export interface KeyedOperator {
  readonly kind: 'scatter' | 'match';
  /** The step that it replaces. */
  readonly step: PlannedStep;
  start(context: OperatorContext): Operator;
  close(): void;
}

/** Starts the operation of a step, or the operator that replaces it. */
export function startStep(
  keyed: KeyedOperator | null,
  step: PlannedStep,
  context: OperatorContext,
): ReturnType<PlannedStep['definition']['start']> {
  return step === keyed?.step ? keyed.start(context) : step.definition.start(step.plan, context);
}

/** The files that one thread writes or reads while it reads parts of the Run's file. */
export class KeyedParts {
  readonly #keys: KeyPhase;
  readonly #directory: string;
  readonly #folder: SpillFolder;
  /** Number of the current part. */
  part: number;
  #isScattering = false;

  constructor(task: RunTask, keys: KeyPhase, firstPart: number) {
    this.#keys = keys;
    this.#directory = exchangeFolder(task);
    this.#folder = new SpillFolder(this.#directory, `${task.task}-${firstPart}-`);
    this.part = firstPart;
  }

  get phase(): KeyPhase['phase'] {
    return this.#keys.phase;
  }

  get seed(): number {
    return this.#keys.seed;
  }

  /** Names of the files with rows; undefined if the rows are not scattered. */
  get names(): readonly string[] | undefined {
    return this.#isScattering ? this.#folder.names : undefined;
  }

  file(): StreamFile {
    return new StreamFile(this.#folder);
  }

  scatterOf({ step, streams }: KeyedStep): KeyedOperator {
    this.#isScattering = true;
    return {
      kind: 'scatter',
      step,
      start: (context) => new RowScatter(context, streams, this),
      close: () => this.#folder.closeFiles(),
    };
  }

  matchOf({ step, made, compared }: KeyedStep): KeyedOperator {
    const folder = new SpillFolder(this.#directory);
    return {
      kind: 'match',
      step,
      start: (context) => {
        const { rows, cells } = this.#keys;
        const files = { rows: new StreamFiles(folder, rows), cells: new StreamFiles(folder, cells) };
        const part = (): number => this.part;
        const plan = { types: storedTypes(made) };
        const operator = new RowMatch(context, plan, {
          ...files,
          get part() {
            return part();
          },
        });
        // The first part has all rows that are examined, see StreamPlan.isExamined.
        return this.part === 0 ? withOrderCheck(operator, compared, context) : operator;
      },
      close: () => folder.closeFiles(),
    };
  }
}
