// Proposes a Template for a sample: reads all of it, asks each rule what it would write, and proves what comes of it.
import { basename, extname } from 'node:path';
import { headerKey } from '../../workers/plan/headers.ts';
import { columnNames } from './column-names.ts';
import { counted, type DraftedSample, type DraftLine, type SampleLikeness } from './draft-line.ts';
import { matchColumns } from './like/match-columns.ts';
import type { TargetColumn } from './like/target-column.ts';
import { proveDraft } from './prove-draft.ts';
import { DRAFT_RULES } from './rules/index.ts';
import { profileSample, type SampleProfile } from './sample-profile.ts';
import type { RunSample } from './sample-run.ts';
import { writeDraft } from './write-draft.ts';

/** The same text for the same file and targets. Throws SampleRefusedError, Failed or a system error where the sample cannot be read. */
export async function draftTemplate(
  path: string,
  run: RunSample,
  targets: readonly TargetColumn[] | null = null,
): Promise<string> {
  const profile = await profileSample(path, run);
  const like = targets === null ? null : likenessOf(profile, targets);
  const sample: DraftedSample = { profile, like, names: columnNames(profile.headers, wantedNames(like)) };
  const lines: readonly DraftLine[] = DRAFT_RULES.flatMap((rule) => rule(sample));
  const head = {
    name: nameOf(path),
    remark: `Drafted from a sample of ${counted(profile.rows, 'row')} and ${counted(profile.columns.length, 'column')}, all of which were read.`,
  };
  const write = (of: readonly DraftLine[]): string => writeDraft(head, of);
  return write(await proveDraft(lines, { profile, write, run }));
}

function likenessOf({ headers, columns }: SampleProfile, targets: readonly TargetColumn[]): SampleLikeness {
  const sample = headers.map((header, at) => ({ header, profile: columns[at]! }));
  const matchings = matchColumns(sample, targets);
  // A name by which another header would be found cannot be given.
  const keys = headers.map((header) => headerKey(header, 'normal'));
  return {
    targets,
    matchings: matchings.map((matching) => {
      const at = keys.indexOf(headerKey(targets[matching.target]!.name, 'normal'));
      return at < 0 || at === matching.sample ? matching : { ...matching, isAccepted: false };
    }),
  };
}

function wantedNames(like: SampleLikeness | null): ReadonlyMap<number, string> {
  const accepted = (like?.matchings ?? []).filter(({ isAccepted }) => isAccepted);
  return new Map(accepted.map(({ sample, target }) => [sample, like!.targets[target]!.name]));
}

/** The name of the file without what is likely to be of one day only. */
function nameOf(path: string): string {
  const words = basename(path, extname(path))
    .replace(/[\d_.-]+/g, ' ')
    .trim();
  return words === '' ? 'Draft' : words;
}
