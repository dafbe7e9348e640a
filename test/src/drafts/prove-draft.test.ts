// Wrong lines that the rules wrote: such a defect must not prevent the draft, or break the studio.
import { PassThrough } from 'node:stream';
import { test } from 'tap';
import { beginningOf } from '../../../src/commands/studio.ts';
import type { DraftLine } from '../../../src/drafts/draft-line.ts';
import { proveDraft, writeDraft } from '../../../src/drafts/draft-template.ts';
import { SampleRefusedError } from '../../../src/drafts/sample-profile.ts';
import { written } from '../commands/command-line.ts';

/** The draft that is the first to check; before it no row is read. */
async function firstChecked(lines: readonly DraftLine[]): Promise<string> {
  const written: string[] = [];
  const proof = proveDraft(lines, {
    profile: {} as never,
    write: (of) => {
      written.push(writeDraft({ schema: null, name: 'Draft', remark: 'of a test' }, of));
      return written.at(-1)!;
    },
    run: () => Promise.reject(new SampleRefusedError({ code: 'MALFORMED_FILE', message: 'it is run' })),
  });
  await proof.catch((error: Error) => {
    if (!(error instanceof SampleRefusedError)) throw error;
  });
  return written.at(-1)!;
}

const line = (place: DraftLine['place'], text: string, footer?: 'end' | 'total'): DraftLine => ({
  place,
  text,
  evidence: 'seen',
  isActive: true,
  ...(footer === undefined ? {} : { footer }),
});

test('a footer that cannot be written is only offered, and the rest stands', async (t) => {
  const end = line('operation', '{stop_when: {where: \'a == "Total"\'}}', 'end');
  const total = line('input', 'footer: {"no name": {record: 0, field: 1}}', 'total');
  const draft = await firstChecked([total, end, line('operation', '{drop_blank_rows: {}}')]);
  t.match(draft, /^ {2}# - \{stop_when: .*its check cannot be written; seen$/m);
  t.match(draft, /^ {2}- \{drop_blank_rows/m);
  t.notMatch(draft, /footer:/);
  await t.rejects(firstChecked([line('input', 'footer: {"no name": {}}'), end]), /none of its lines is the cause/);
});

test('the studio begins empty where no draft can be made, and tells why', async (t) => {
  for (const [fault, why] of [
    [
      new SampleRefusedError({ code: 'MALFORMED_FILE', message: 'It has no rows.' }),
      /could be made: It has no rows\.\n$/,
    ],
    [new Error('a defect of the rules'), /could be made: Error: a defect of the rules\n {4}at /],
  ] as const) {
    const stderr = new PassThrough();
    t.match(await beginningOf(() => Promise.reject(fault), 'yaml', { stderr }), /^format: 1\noperations: \[\]/);
    t.match(written(stderr), why);
  }
});
