// The phases `scatter` and `match` of a Run whose rows several threads process by key (execution/keys/row-streams.ts
// explains the phases). Each thread reads parts of the file, and another operator replaces the keyed step of the plan.
// The phase between them, `compute`, is in compute-streams.ts.
import { storedTypes } from '../batch/schema.ts';
import { RowMatch, RowScatter } from '../execution/keys/row-streams.ts';
import { withOrderCheck } from '../execution/sort/numbers-as-text.ts';
import { StreamFile, StreamFiles } from '../execution/spill/stream-files.ts';
import { SpillFolder } from '../memory/spill-file.ts';
import type { KeyedStep, PlannedStep } from '../plan/plan.ts';
import { exchangeFolder, type KeyPhase, type RunTask } from '../protocol/messages.ts';
import type { Operator, OperatorContext } from '../template/operation.ts';

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
