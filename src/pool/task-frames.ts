// The common part of all tasks of one account, plan and Template, created once: the pool sends each thread the same
// object only once.
import type { RunTask } from '../../workers/protocol/messages.ts';
import type { Account, CatalogTemplate, Plan, Subscription } from '../catalog/catalog.ts';
import type { CheckedTemplate } from '../outputs/output-store.ts';

/** The part of a task that does not depend on the request. */
export type TaskFrame = Pick<RunTask, 'template' | 'limits' | 'tables' | 'secretsDirectory' | 'reservationBytes'>;

interface Entry {
  readonly account: Account;
  readonly plan: Plan;
  readonly frame: TaskFrame;
}

export class TaskFrames {
  /** Objects of the catalog never change: a new catalog has new objects. */
  #entries = new WeakMap<CatalogTemplate<CheckedTemplate>, Entry>();

  of(account: Account, { plan }: Subscription, template: CatalogTemplate<CheckedTemplate>): TaskFrame {
    const known = this.#entries.get(template);
    if (known !== undefined && known.account === account && known.plan === plan) return known.frame;
    const frame = frameOf(account, plan, template);
    this.#entries.set(template, { account, plan, frame });
    return frame;
  }
}

function frameOf(account: Account, plan: Plan, template: CatalogTemplate<CheckedTemplate>): TaskFrame {
  const { rowsMax, outputRowsMax, outputBytesMax, inflatedBytesMax } = plan;
  const tables: Record<string, RunTask['tables'][string]> = {};
  for (const [name, { path, sha256 }] of account.tables) tables[name] = { path, sha256 };
  return {
    template: { source: template.source, format: template.format, sha256: template.sha256 },
    limits: { rowsMax, outputRowsMax, outputBytesMax, inflatedBytesMax },
    tables,
    secretsDirectory: account.secretsDirectory,
    reservationBytes: template.checked.reservationBytes,
  };
}
