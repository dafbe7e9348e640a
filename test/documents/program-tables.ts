// Tables of pages that are made of what the program defines: flags, metrics and error codes.
import { SETTINGS } from '../../src/config.ts';
import { FAILURE_ADVICE, FAILURE_MEANINGS, HTTP_CODE_MEANINGS } from '../../src/http/code-meanings.ts';
import { isHttpError, STATUS_BY_CODE } from '../../src/http/status.ts';
import { FLEET_FIGURES } from '../../src/stores/redis/redis-figures.ts';
import type { MetricDefinition } from '../../src/telemetry/metric-definition.ts';
import { NODE_FIGURES } from '../../src/telemetry/node-figures.ts';
import { NODE_METRICS } from '../../src/telemetry/node-metrics.ts';
import type { FailureCode } from '../../workers/protocol/failure.ts';
import { cell, code } from '../../workers/template/markdown.ts';

/** Where more is told of a flag, from the page of flags. */
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
  const ofEveryNode = [...Object.values(NODE_METRICS), ...NODE_FIGURES].map(row);
  const ofFleet = FLEET_FIGURES.map((metric) => row({ ...metric, help: `${metric.help} Only with \`--redis\`.` }));
  return table(['Metric', 'Kind', 'Labels', 'Meaning'], [...ofEveryNode, ...ofFleet]);
}

export function httpCodeTable(): string {
  const rows = (Object.keys(HTTP_CODE_MEANINGS) as (keyof typeof HTTP_CODE_MEANINGS)[])
    .map((name) => [String(STATUS_BY_CODE[name]), code(name), HTTP_CODE_MEANINGS[name]])
    .sort(([one], [other]) => Number(one) - Number(other));
  return table(['Status', 'Code', 'When'], rows);
}

/** Those that the table of HTTP errors has, too, share a row where one advice does for them. */
export function failureTable(): string {
  const rows = new Map<string, readonly [names: string[], when: string, advice: string]>();
  for (const name of Object.keys(FAILURE_ADVICE) as FailureCode[]) {
    const when = isHttpError(name) ? 'As above.' : FAILURE_MEANINGS[name];
    const advice = FAILURE_ADVICE[name];
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
