// W1 on files other than CSV. Each contender uses its own reader.

import type { InputName } from '../inputs/index.ts';
import { selecting } from './selecting.ts';
import { ORDER_SELECTED } from './w1.ts';
import type { Workload } from './workload.ts';

/** Amounts are numbers there, and other systems write them as doubles: 5.10 becomes 5.1. */
function w1On(name: string, input: InputName, title: string): Workload {
  const workload = selecting({ name, title: `W1 on ${title}`, input, ending: 'csv', selected: ORDER_SELECTED });
  return { ...workload, answer: { numbers: ['total'], lenient: {} } };
}

function w1Encoded(name: string, input: InputName, encoding: string): Workload {
  const workload = selecting({ name, title: `W1 on ${encoding}`, input, ending: 'csv', selected: ORDER_SELECTED });
  return { ...workload, template: { ...workload.template, input: { csv: { encoding } } } };
}

export const FORMAT_WORKLOADS: readonly Workload[] = [
  w1On('NDJSON', 'ndjson', 'NDJSON'),
  w1On('NDJSON-mixed', 'ndjson-mixed', 'NDJSON whose keys come in any order'),
  w1On('NDJSON-sparse', 'ndjson-sparse', 'NDJSON that lacks keys'),
  w1On('NDJSON-nested', 'ndjson-nested', 'NDJSON with nested lists'),
  w1On('JSON-pretty', 'json-pretty', 'an indented JSON list'),
  w1On('Parquet', 'orders-parquet', 'Parquet'),
  w1Encoded('W1-windows-1252', 'orders-windows-1252', 'windows-1252'),
];
