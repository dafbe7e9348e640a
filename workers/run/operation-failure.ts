// Names the operation in what it throws of a row.
import type { PlannedStep } from '../plan/plan.ts';
import { operationHead } from '../plan/scan.ts';
import { Failed } from '../protocol/failure.ts';
import type { TemplateOperation } from '../template/template.ts';

/** A failure whose message names its operation. */
class StepFailed extends Failed {}

/** What an operation throws of a row, with the operation's name; everything else as it is. */
function withOperation(error: unknown, operation: TemplateOperation): unknown {
  if (!(error instanceof Failed) || error instanceof StepFailed) return error;
  const { code, message } = error.failure;
  return code === 'TEMPLATE_ROW_ERROR' ? new StepFailed(code, `${operationHead(operation)}: ${message}`) : error;
}

/** Sums and joined texts that no cell can hold end the Run at once: such a failure says where it was. */
export function* naming<T>({ operation }: PlannedStep, slices: Iterable<T>): Iterable<T> {
  try {
    yield* slices;
  } catch (error) {
    throw withOperation(error, operation);
  }
}
