// What a Template needs and does, without a file: required columns, types at every step, memory, what looks at the day.
import type { ColumnType } from '../batch/schema.ts';
import { operationTable } from '../operations/index.ts';
import type { MemoryClass } from '../operations/operation.ts';
import type { OperationTable } from '../template/language.ts';
import { metaVariables } from '../template/meta-variables.ts';
import type { FileColumn, Template } from '../template/template.ts';
import { type ScanNote, scanOperations } from './scan.ts';

export interface ExplainedColumn {
  readonly name: string;
  readonly type: ColumnType;
}

export interface ExplainedStep {
  readonly pointer: string;
  readonly operation: string;
  readonly id: string | null;
  readonly memory: MemoryClass;
  /** False: hands on nothing before it has seen the last row. */
  readonly streams: boolean;
  /** Its result depends on the day of the Run. */
  readonly depends_on_day: boolean;
  /** The columns behind it. */
  readonly columns: readonly ExplainedColumn[];
}

export interface Explanation {
  readonly file_columns: readonly FileColumn[];
  /** Names that columns must have behind a rename by pattern or style. */
  readonly derived_columns: readonly string[];
  /** True when the file's other columns stay as well: the columns of the steps are those known from the Template. */
  readonly other_columns: boolean;
  /** True when the last step adds columns that only its rows name. */
  readonly columns_named_by_rows: boolean;
  readonly steps: readonly ExplainedStep[];
  readonly output: { readonly format: string; readonly columns: readonly ExplainedColumn[] };
  readonly streams: boolean;
  readonly depends_on_day: boolean;
  /** What is no mistake but may not be meant. */
  readonly notes: readonly ScanNote[];
}

export function explainTemplate(template: Template, table: OperationTable = operationTable): Explanation {
  const planned = template.operations.map((operation) => {
    const definition = table.get(operation.name);
    if (definition === undefined) throw new Error('an operation of a checked Template is not in the table');
    return { operation, definition, base: operation.pointer };
  });
  const scan = scanOperations(
    {
      steps: planned,
      fileColumns: template.fileColumns.map(({ name }) => name),
      flagColumn: template.flagColumn,
      outputColumns: template.output.columns,
      patterns: template.patterns,
      tables: new Map(Object.keys(template.tables).map((name) => [name, null])),
      variables: metaVariables(template.input),
    },
    () => {
      throw new Error('a checked Template has a problem');
    },
  );
  const shown = (columns: readonly ExplainedColumn[]) => columns.map(({ name, type }) => ({ name, type }));
  const steps = planned.map(({ operation, definition }, index): ExplainedStep => {
    const { memory: given } = definition;
    const memory = typeof given === 'function' ? given(operation.parameters) : given;
    return {
      pointer: operation.pointer,
      operation: operation.name,
      id: operation.id,
      memory,
      streams: memory !== 'B' && definition.handsOnAtEnd?.(operation.parameters) !== true,
      depends_on_day: scan.dependsOnDay[index]!,
      columns: shown(scan.columns[index + 1]!),
    };
  });
  return {
    file_columns: template.fileColumns,
    derived_columns: [...scan.derivedReads.keys()],
    other_columns: template.input.otherColumns === 'keep',
    columns_named_by_rows: scan.endsUnknown,
    steps,
    output: { format: template.output.format, columns: shown(scan.output) },
    streams: steps.every((step) => step.streams),
    depends_on_day: steps.some((step) => step.depends_on_day),
    // With other `null_values` an empty cell may be a text like any other.
    notes: template.input.nullValues.includes('') ? scan.notes : [],
  };
}
