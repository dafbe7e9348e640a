// The workloads of the engine's benchmark, each as a Template; the contenders do the same work in their own words.

export type WorkloadName = 'W1' | 'W4' | 'W7';

export interface Workload {
  readonly name: WorkloadName;
  readonly title: string;
  readonly template: Readonly<Record<string, unknown>>;
  readonly ending: 'csv' | 'ndjson';
}

/** W1 and W7: the file's column and its name in the output, in order. */
export const SELECTED: readonly (readonly [column: string, name: string])[] = [
  ['order_id', 'order_id'],
  ['customer', 'name'],
  ['email', 'email'],
  ['status', 'status'],
  ['amount', 'total'],
  ['notes', 'notes'],
];

const select = { op: 'select', columns: SELECTED.map(([column]) => column) };
const rename = { op: 'rename', columns: { customer: 'name', amount: 'total' } };

export const WORKLOADS: readonly Workload[] = [
  {
    name: 'W1',
    title: 'select 6 of 12 columns, rename 2',
    template: { format: 1, operations: [select, rename], output: { format: 'csv' } },
    ending: 'csv',
  },
  {
    name: 'W4',
    title: 'first row of each email, in order',
    template: { format: 1, operations: [{ op: 'dedupe', by: ['email'] }], output: { format: 'csv' } },
    ending: 'csv',
  },
  {
    name: 'W7',
    title: 'W1 to NDJSON',
    template: { format: 1, operations: [select, rename], output: { format: 'ndjson' } },
    ending: 'ndjson',
  },
];
