// What metrics tell of Redis and of the fleet.
import type { SharedPlace } from '../../outputs/shared-place.ts';
import type { FigureDefinition } from '../../telemetry/metric-definition.ts';
import type { NodeClaims } from './claims.ts';
import type { Membership } from './membership.ts';
import type { Reaper } from './reaper.ts';
import type { RedisDesk } from './redis-desk.ts';
import type { CallFigures, RedisLink } from './redis-link.ts';
import { REDIS_TROUBLES } from './redis-trouble.ts';

export interface FleetParts {
  readonly links: readonly RedisLink[];
  readonly membership: Membership;
  readonly claims: NodeClaims;
  readonly reaper: Reaper;
  readonly desk: RedisDesk;
  readonly place: SharedPlace;
  /** Of the catalog in force here. */
  readonly catalogDigest: string;
}

const TROUBLES = REDIS_TROUBLES.map((trouble) => `\`${trouble}\``).join(', ');

export const FLEET_FIGURES: readonly FigureDefinition<FleetParts>[] = [
  {
    name: 'template_run_redis_calls_total',
    kind: 'counter',
    help: 'Calls of Redis by script or command.',
    labels: ['script'],
    read: ({ links }) => byScript(links, ({ calls }) => calls),
  },
  {
    name: 'template_run_redis_call_seconds_total',
    kind: 'counter',
    help: 'Time that calls of Redis took, the way included, by script or command.',
    labels: ['script'],
    read: ({ links }) => byScript(links, ({ seconds }) => seconds),
  },
  {
    name: 'template_run_redis_errors_total',
    kind: 'counter',
    help: `Calls of Redis that failed, by kind: ${TROUBLES}.`,
    labels: ['kind'],
    read: ({ links }) => sums(links.flatMap(({ troubles }) => [...troubles])),
  },
  {
    name: 'template_run_redis_in_doubt_total',
    kind: 'counter',
    help: 'Claims of which nobody knew whether they were made or ended; they are taken back.',
    labels: [],
    read: ({ claims }) => claims.doubts,
  },
  {
    name: 'template_run_redis_emptied_total',
    kind: 'counter',
    help: 'How often Redis was found to have lost everything.',
    labels: [],
    read: ({ membership }) => membership.epochsLost,
  },
  {
    name: 'template_run_outputs_errors_total',
    kind: 'counter',
    help: "What the place of larger outputs did not do, by kind: `timeout` of a folder; `unreachable` or the code of a bucket's refusal, such as `AccessDenied`.",
    labels: ['kind'],
    read: ({ place }) => place.troubles,
  },
  {
    name: 'template_run_fleet_nodes',
    kind: 'gauge',
    help: 'Living nodes.',
    labels: [],
    read: ({ membership }) => membership.others.length,
  },
  {
    name: 'template_run_fleet_catalogs_differ',
    kind: 'gauge',
    help: 'Living nodes with another catalog than this one.',
    labels: [],
    read: ({ membership, catalogDigest }) => membership.others.filter((other) => other !== catalogDigest).length,
  },
  {
    name: 'template_run_fleet_lease_age_seconds',
    kind: 'gauge',
    help: 'Time since the last heartbeat that was answered.',
    labels: [],
    read: ({ membership }) => membership.leaseAgeMilliseconds / 1000,
  },
  {
    name: 'template_run_fleet_clock_offset_seconds',
    kind: 'gauge',
    help: 'Clock of Redis minus the clock of this node.',
    labels: [],
    read: ({ membership }) => membership.offsetMilliseconds / 1000,
  },
  {
    name: 'template_run_fleet_given_up_total',
    kind: 'counter',
    help: 'How often this node was given up by others.',
    labels: [],
    read: ({ membership }) => membership.timesLost,
  },
  {
    name: 'template_run_fleet_runs_lost_total',
    kind: 'counter',
    help: 'Ends of Runs that came too late: others had given the Run up.',
    labels: [],
    read: ({ desk }) => desk.lost,
  },
  {
    name: 'template_run_fleet_runs_taken_back_total',
    kind: 'counter',
    help: 'Claims that this node took back, of others and of its own.',
    labels: [],
    read: ({ reaper }) => reaper.reaped,
  },
];

function byScript(links: readonly RedisLink[], value: (figures: CallFigures) => number): ReadonlyMap<string, number> {
  return sums(links.flatMap(({ calls }) => [...calls].map(([script, figures]) => [script, value(figures)] as const)));
}

/** Of each name. */
function sums(counts: readonly (readonly [string, number])[]): ReadonlyMap<string, number> {
  const all = new Map<string, number>();
  for (const [name, count] of counts) all.set(name, (all.get(name) ?? 0) + count);
  return all;
}
