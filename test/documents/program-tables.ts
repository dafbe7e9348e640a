// Tables of pages that are generated from the code: flags, metrics and error codes.
import { SETTINGS } from '../../src/config.ts';
import { FAILURES, HTTP_ERROR_CODES, isHttpError, meaningOf, statusOf } from '../../src/http/error-codes.ts';
import { FLEET_METRICS } from '../../src/stores/redis/redis-stores.ts';
import type { MetricDefinition } from '../../src/telemetry/metric-definition.ts';
import { NODE_METRICS, NODE_SCRAPED_METRICS } from '../../src/telemetry/metrics.ts';
import { OPERATION_TOPICS } from '../../workers/operations/index.ts';
import type { FailureCode } from '../../workers/protocol/failure.ts';
import { MEMORY_CLASSES, type MemoryClass, type OperationDefinition } from '../../workers/template/operation.ts';
import { cell, code } from '../../workers/template/reference.ts';

/** Links from the page of flags to more about a flag. */
const TOLD_OF_FLAGS: Readonly<Partial<Record<(typeof SETTINGS)[number][0], string>>> = {
  catalog: '../how-to/catalog.md#the-catalog',
  'memory-budget': '../explanation/memory.md#memory',
  docs: '../how-to/run-a-node.md#pages-for-people',
  console: '../how-to/run-a-node.md#pages-for-people',
  redis: '../how-to/fleet.md',
};

export function flagTable(): string {
  const rows = SETTINGS.map(([name, placeholder, purpose, fallback]) => {
    const flag = code(`--${name} ${placeholder}`);
    const told = TOLD_OF_FLAGS[name];
    return [told === undefined ? flag : `[${flag}](${told})`, fallback, purpose];
  });
  return table(['Flag', 'Default', 'Meaning'], rows);
}

export function metricTable(): string {
  const row = ({ name, kind, labels, help }: MetricDefinition): string[] => {
    return [code(name), kind, labels.map(code).join(', '), help];
  };
  const ofEveryNode = [...Object.values(NODE_METRICS), ...NODE_SCRAPED_METRICS].map(row);
  const ofFleet = FLEET_METRICS.map((metric) => row({ ...metric, help: `${metric.help} Only with \`--redis\`.` }));
  return table(['Metric', 'Kind', 'Labels', 'Meaning'], [...ofEveryNode, ...ofFleet]);
}

/** One table of operations for each topic. */
export function operationTables(): string {
  const tables = Object.entries(OPERATION_TOPICS).map(([topic, definitions]) => {
    const rows = definitions.map((definition) => {
      const { name, cells, purpose } = definition;
      return [`[${code(name)}](full-reference.md#${name})${cells ? ' ●' : ''}`, purpose, memoryClasses(definition)];
    });
    return `### ${topic}\n\n${table(['Operation', 'Purpose', 'Class'], rows)}`;
  });
  return tables.join('\n\n');
}

/** The memory class; if it depends on the parameters, the classes of all examples. */
function memoryClasses({ memory, examples }: OperationDefinition): string {
  if (typeof memory === 'string') return memory;
  const found = new Set(examples.map(({ operation }) => memory(operation)));
  const classes = (Object.keys(MEMORY_CLASSES) as MemoryClass[]).filter((one) => found.has(one));
  return [classes.slice(0, -1).join(', '), ...classes.slice(-1)].filter((text) => text !== '').join(' or ');
}

export function httpCodeTable(): string {
  const rows = HTTP_ERROR_CODES.map((name) => [String(statusOf(name)), code(name), meaningOf(name)]).sort(
    ([one], [other]) => Number(one) - Number(other),
  );
  return table(['Status', 'Code', 'When'], rows);
}

/** Codes with the same meaning and advice share a row. Codes that are never HTTP errors come first. */
export function failureTable(): string {
  const rows = new Map<string, readonly [names: string[], when: string, advice: string]>();
  const names = (Object.keys(FAILURES) as FailureCode[]).sort(
    (one, other) => Number(isHttpError(one)) - Number(isHttpError(other)),
  );
  for (const name of names) {
    const { meaning, advice } = FAILURES[name];
    const when = isHttpError(name) ? 'As above.' : meaning;
    const row = rows.get(`${when} ${advice}`) ?? [[], when, advice];
    row[0].push(code(name));
    rows.set(`${when} ${advice}`, row);
  }
  const cells = [...rows.values()].map(([names, when, advice]) => [names.join(', '), when, advice]);
  return table(['Code', 'When', 'What to do'], cells);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows].map((cells, index) =>
    index === 1 ? `|${cells.join('|')}|` : `| ${cells.map(cell).join(' | ')} |`,
  );
  return lines.join('\n');
}
