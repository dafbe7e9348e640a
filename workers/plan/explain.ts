// Explains a Template without a file: required columns, types at every step, memory classes, and dependence on the
// current day.
import type { ColumnType } from '../batch/schema.ts';
import { operationTable } from '../operations/index.ts';
import type { OperationTable } from '../template/language.ts';
import type { MemoryClass } from '../template/operation.ts';
import { type ScanNote, scanOperations } from '../template/scan.ts';
import { type FileColumn, metaVariables, type Template } from '../template/template.ts';

export interface ExplainedColumn {
  readonly name: string;
  readonly type: ColumnType;
}

export interface ExplainedStep {
  readonly pointer: string;
  readonly operation: string;
  readonly id: string | null;
  readonly memory: MemoryClass;
  /** False if the operation emits no row before it has received the last one. */
  readonly streams: boolean;
  /** True if the result depends on the day of the Run. */
  readonly depends_on_day: boolean;
  /** The columns after the operation. */
  readonly columns: readonly ExplainedColumn[];
}

export interface Explanation {
  readonly file_columns: readonly FileColumn[];
  /** Names that columns must have after a rename by pattern or style. */
  readonly derived_columns: readonly string[];
  /**
   * True if the file's other columns are kept as well. The steps then list only the columns that the Template
   * mentions.
   */
  readonly other_columns: boolean;
  /** True if the last step adds columns whose names come from its rows. */
  readonly columns_named_by_rows: boolean;
  readonly steps: readonly ExplainedStep[];
  readonly output: {
    readonly format: string;
    readonly columns: readonly ExplainedColumn[];
    /** Columns whose cells choose the file of a row. Absent if the output is one file. */
    readonly split_by?: readonly string[];
  };
  readonly streams: boolean;
  readonly depends_on_day: boolean;
  /** Hints about things that are allowed but may be unintended. */
  readonly notes: readonly ScanNote[];
}

export function explainTemplate(template: Template, table: OperationTable = operationTable): Explanation {
  const { format, splitBy } = template.output;
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
      splitBy: template.output.splitBy,
      patterns: template.patterns,
      tables: new Map(Object.keys(template.tables).map((name) => [name, null])),
      tableTypes: template.tables,
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
      streams: memory !== 'B' && definition.emitsAtEnd?.(operation.parameters) !== true,
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
    output: { format, columns: shown(scan.output), ...(splitBy.length > 0 && { split_by: splitBy }) },
    // An output with several files is sorted first.
    streams: steps.every((step) => step.streams) && splitBy.length === 0,
    depends_on_day: steps.some((step) => step.depends_on_day),
    // With other `null_values`, an empty cell may be an ordinary text.
    notes: template.input.nullValues.includes('') ? scan.notes : [],
  };
}
