// Messages between the main thread and a worker thread arrive unchanged: tasks whose common values are sent once, more of them
// than a thread remembers, short and long byte strings, outcomes with and without an output.
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import t from 'tap';
import type { Frame } from '../../../workers/protocol/frame.ts';
import type { FromWorker, RunOutcome, RunTask, ToWorker } from '../../../workers/protocol/messages.ts';
import { FrameSender, messagesOf, OutcomeCodec, taskOutcome } from '../../../workers/protocol/outcome-codec.ts';
import { TaskDecoder, TaskEncoder } from '../../../workers/protocol/task-codec.ts';

const LIMITS = { rowsMax: 10, outputRowsMax: null, outputBytesMax: null, inflatedBytesMax: null };

function task(number: number, template: RunTask['template'], source: RunTask['source']): RunTask {
  return {
    task: number,
    template,
    source,
    ending: 'csv',
    overrides: { delimiter: ';', headerRow: null },
    limits: LIMITS,
    output: { path: `/out/${number}`, memoryBytesMax: 1024 },
    spillDirectory: `/spill/${number}`,
    tables: { people: { path: '/tables/people.csv', sha256: 'ab' } },
    secretsDirectory: null,
    startedAt: '2026-01-01T00:00:00.000Z',
    fileName: 'päth.csv',
    reservationBytes: 1,
    accountRow: 7,
  };
}

const template = (name: string): RunTask['template'] => ({
  source: `{"name":"${name}"}`,
  format: 'json',
  sha256: name,
});

const filled = (length: number, value: number): Uint8Array => new Uint8Array(length).fill(value);

t.test('tasks arrive with their Templates, however many there are', async (t) => {
  const encoder = new TaskEncoder();
  const decoder = new TaskDecoder();
  const templates = Array.from({ length: 700 }, (_, index) => template(`t${index}`));
  let wrong = 0;
  let number = 0;
  for (let round = 0; round < 3; round += 1) {
    for (const one of templates)
      encoder.add({ kind: 'start', task: task(number++, one, { kind: 'file', path: '/in' }) });
    const received = decoder.messages(structuredClone(encoder.frame()));
    t.equal(received.length, templates.length);
    received.forEach((message, index) => {
      if (message.kind !== 'start' || message.task.template.sha256 !== `t${index}`) wrong += 1;
    });
  }
  t.equal(wrong, 0);
});

t.test('a value that a thread has is not sent again', async (t) => {
  const encoder = new TaskEncoder();
  const one = template('x'.repeat(10_000));
  const { tables } = task(0, one, { kind: 'file', path: '/in' });
  const start = (number: number): ToWorker => {
    return { kind: 'start', task: { ...task(number, one, { kind: 'file', path: '/in' }), tables } };
  };
  encoder.add(start(1));
  t.ok(encoder.frame().text.length > 10_000);
  encoder.add(start(2));
  t.ok(encoder.frame().text.length < 1_000);
});

t.test('messages keep their order, and sources of any length their bytes', async (t) => {
  const encoder = new TaskEncoder();
  const lengths = [0, 1, 1_000, 16_384, 16_385, 200_000, 5];
  lengths.forEach((length, index) => {
    encoder.add({ kind: 'start', task: task(index, template('a'), { kind: 'bytes', bytes: filled(length, index) }) });
    encoder.add({ kind: 'cancel', task: index });
  });
  encoder.add({ kind: 'stop' });
  const frame = encoder.frame();
  t.equal(encoder.size, 0);
  const messages = new TaskDecoder().messages(structuredClone(frame, { transfer: [...frame.buffers] }));
  t.strictSame(
    messages.map(({ kind }) => kind),
    [...lengths.flatMap(() => ['start', 'cancel']), 'stop'],
  );
  const sources = messages.flatMap((message) => (message.kind === 'start' ? [message.task.source] : []));
  sources.forEach((source, index) => {
    const bytes = source.kind === 'bytes' ? source.bytes : filled(0, 0);
    t.ok(Buffer.from(bytes).equals(filled(lengths[index]!, index)), `${lengths[index]} bytes`);
  });
  const sent = task(6, template('a'), { kind: 'bytes', bytes: filled(5, 6) });
  t.match(messages.at(-3), { kind: 'start', task: { ...sent, source: { kind: 'bytes' } } });
});

t.test('outcomes arrive with their outputs and reports', async (t) => {
  const report: RunOutcome['report'] = {
    template_sha256: 'ab',
    rows_read: 7,
    rows_written: 3,
    input: { type: 'csv', encoding: 'utf-8', delimiter: '¦', header_row: 0, errors: {} },
    operations: [],
    output: { formulas_guarded: 0 },
    tables: {},
  };
  const shared = { rowsWritten: 3, truncated: false, rejects: null, failure: null, report, busyMilliseconds: 1.5 };
  const described = { sha256: null, mimeType: 'text/csv', ending: 'csv' };
  const output = { ...described, bytes: filled(100, 1), sizeBytes: 100 };
  const long = { ...described, bytes: filled(40_000, 2), sizeBytes: 40_000 };
  const onDisk = { ...described, bytes: null, sizeBytes: 1e9 };
  const failure = { code: 'TEMPLATE_COLUMNS_MISSING', message: 'columns', columns: ['a'] } as const;
  const outcomes: RunOutcome[] = [
    { ...shared, output },
    { ...shared, output: null, failure },
    { ...shared, output: long },
    { ...shared, output: onDisk },
    { ...shared, output: { ...long, bytes: filled(40_000, 3) }, rejects: { ...output, bytes: filled(100, 4) } },
    { ...shared, output: onDisk, rejects: onDisk },
  ];
  const encoder = new OutcomeCodec();
  outcomes.forEach((outcome, index) => {
    encoder.add({ kind: 'done', task: index, outcome: taskOutcome(outcome) });
  });
  encoder.add({ kind: 'fault', task: 9, message: 'm', stack: 's' });
  const frame = encoder.frame();
  const received: FromWorker[] = messagesOf(structuredClone(frame, { transfer: [...frame.buffers] }));
  t.strictSame(received.at(-1), { kind: 'fault', task: 9, message: 'm', stack: 's' });
  const back = received.flatMap((message) => (message.kind === 'done' ? [message.outcome] : []));
  const bare = <Output extends object>(file: Output | null) => (file === null ? null : { ...file, bytes: null });
  const told = { rowsWritten: 3, truncated: false, failure: null, busyMilliseconds: 1.5, rowsRead: 7 };
  const withoutBytes = back.map(({ output, rejects, reportText, ...rest }) => {
    return { ...rest, output: bare(output), rejects: bare(rejects) };
  });
  const apart = { output: bare(long), rejects: bare(output) };
  t.strictSame(withoutBytes, [
    { ...told, output: bare(output), rejects: null },
    { ...told, output: null, rejects: null, failure },
    { ...told, output: bare(long), rejects: null },
    { ...told, output: onDisk, rejects: null },
    { ...told, ...apart },
    { ...told, output: onDisk, rejects: onDisk },
  ]);
  t.ok(Buffer.from(back[4]!.rejects!.bytes!).equals(filled(100, 4)));
  t.strictSame(JSON.parse(back[0]!.reportText), report);
  t.ok(Buffer.from(back[0]!.output!.bytes!).equals(filled(100, 1)));
  t.ok(Buffer.from(back[2]!.output!.bytes!).equals(filled(40_000, 2)));
  t.equal(back[3]!.output!.bytes, null);
});

t.test('an urgent message does not wait for the end of the turn', async (t) => {
  const { port1, port2 } = new MessageChannel();
  t.teardown(() => port1.close());
  const sender = new FrameSender(port1);
  const tasks = (): number[] | null => {
    const received = receiveMessageOnPort(port2) as { readonly message: Frame } | undefined;
    return received === undefined
      ? null
      : messagesOf(received.message).map((message) => (message as { task: number }).task);
  };
  sender.send({ kind: 'cancelled', task: 1 });
  t.equal(tasks(), null);
  sender.sendNow({ kind: 'cancelled', task: 2 });
  t.strictSame(tasks(), [1, 2]);
  sender.send({ kind: 'cancelled', task: 3 });
  // The turn of the first message ends without a message that is still to be sent.
  await new Promise((resolve) => setImmediate(resolve));
  t.strictSame(tasks(), [3]);
  t.equal(tasks(), null);
});
