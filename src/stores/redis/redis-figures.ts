// What metrics tell of Redis and of the fleet.
import type { SharedPlace } from '../../outputs/shared-place.ts';
import type { StoreFigure } from '../stores.ts';
import type { NodeClaims } from './claims.ts';
import type { Membership } from './membership.ts';
import type { Reaper } from './reaper.ts';
import type { RedisDesk } from './redis-desk.ts';
import type { CallFigures, RedisLink } from './redis-link.ts';

export interface FleetParts {
  readonly links: readonly RedisLink[];
  readonly membership: Membership;
  readonly claims: NodeClaims;
  readonly reaper: Reaper;
  readonly desk: RedisDesk;
  readonly place: SharedPlace;
}

export function fleetFigures(
  { links, membership, claims, reaper, desk, place }: FleetParts,
  digest: string,
): StoreFigure[] {
  const byScript = (value: (figures: CallFigures) => number): ReadonlyMap<string, number> =>
    sums(links.flatMap(({ calls }) => [...calls].map(([script, figures]) => [script, value(figures)] as const)));
  const differ = membership.others.filter((other) => other !== digest).length;
  return [
    labelled(
      'template_run_redis_calls_total',
      'Calls of Redis by script or command.',
      'script',
      byScript(({ calls }) => calls),
    ),
    labelled(
      'template_run_redis_call_seconds_total',
      'Time that these calls took, the way included.',
      'script',
      byScript(({ seconds }) => seconds),
    ),
    labelled(
      'template_run_redis_errors_total',
      'Calls that failed, by kind.',
      'kind',
      sums(links.flatMap(({ troubles }) => [...troubles])),
    ),
    labelled('template_run_outputs_errors_total', 'What the place of outputs did not do.', 'kind', place.troubles),
    single(
      'template_run_redis_in_doubt_total',
      'Claims of which nobody knew whether they were made or ended.',
      claims.doubts,
    ),
    single(
      'template_run_redis_emptied_total',
      'How often Redis was found to have lost everything.',
      membership.epochsLost,
    ),
    single(
      'template_run_fleet_runs_lost_total',
      'Ends of Runs that came after others had given the Run up.',
      desk.lost,
    ),
    single(
      'template_run_fleet_runs_taken_back_total',
      'Claims that this node took back, of others and of its own.',
      reaper.reaped,
    ),
    single('template_run_fleet_given_up_total', 'How often this node was given up by others.', membership.timesLost),
    single(
      'template_run_fleet_lease_age_seconds',
      'Time since the last heartbeat that was answered.',
      membership.leaseAgeMilliseconds / 1000,
    ),
    single(
      'template_run_fleet_clock_offset_seconds',
      'Clock of Redis minus the clock of this node.',
      membership.offsetMilliseconds / 1000,
    ),
    single('template_run_fleet_nodes', 'Living nodes.', membership.others.length),
    single('template_run_fleet_catalogs_differ', 'Living nodes with another catalog than this one.', differ),
  ];
}

/** Of each name. */
function sums(counts: readonly (readonly [string, number])[]): ReadonlyMap<string, number> {
  const all = new Map<string, number>();
  for (const [name, count] of counts) all.set(name, (all.get(name) ?? 0) + count);
  return all;
}

function single(name: string, help: string, value: number): StoreFigure {
  return { name, help, label: null, values: new Map([['', value]]) };
}

function labelled(name: string, help: string, label: string, values: ReadonlyMap<string, number>): StoreFigure {
  return { name, help, label, values };
}
