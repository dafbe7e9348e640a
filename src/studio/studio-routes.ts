// What the studio's page may ask, each with what has to stand in its body.
import type { RowFilter } from '../../workers/watch/watch-messages.ts';
import { type JsonBody, numberIn, numbersIn, RequestRefused, textIn } from './json-body.ts';
import { studioLanguage } from './language.ts';
import type { StudioSession } from './studio-session.ts';

/** A page of rows is a few screens. */
const ROWS_AT_ONCE_MAX = 500;

/** A test is read by people. */
const TEST_ROWS_MAX = 50;

const FILTERS: readonly RowFilter[] = ['all', 'changed', 'errors'];

export interface StudioRoutes {
  readonly session: StudioSession;
  /** Rows that the Run under way has read. */
  readonly rowsRead: () => number;
}

type Route = (routes: StudioRoutes, body: JsonBody) => unknown;

const ROUTES: ReadonlyMap<string, Route> = new Map<string, Route>([
  ['GET /api/state', ({ session }) => session.state()],
  ['GET /api/language', () => studioLanguage()],
  ['GET /api/progress', ({ rowsRead }) => ({ rowsRead: rowsRead() })],
  [
    'POST /api/look',
    ({ session }, body) =>
      session.look({
        source: textIn(body, 'source'),
        step: numberIn(body, 'step'),
        whole: body['whole'] === true,
        head: body['head'] === true,
        hasRows: body['hasRows'] === true,
      }),
  ],
  ['POST /api/stop', ({ session }) => session.stop()],
  [
    'POST /api/rows',
    ({ session }, body) =>
      session.rows({
        step: numberIn(body, 'step'),
        filter: filterIn(body),
        from: numberIn(body, 'from'),
        count: Math.min(ROWS_AT_ONCE_MAX, numberIn(body, 'count')),
      }),
  ],
  [
    'POST /api/trace',
    ({ session }, body) =>
      session.trace({
        sourceRow: numberIn(body, 'sourceRow'),
        repeat: numberIn(body, 'repeat'),
        columnId: numberIn(body, 'columnId'),
      }),
  ],
  ['POST /api/test', ({ session }, body) => session.makeTest(textIn(body, 'source'), testRows(body))],
  ['PUT /api/template', ({ session }, body) => session.save(textIn(body, 'source'), textIn(body, 'sha256'))],
]);

/** @param route method and path */
export async function answerOf(routes: StudioRoutes, route: string, body: JsonBody): Promise<unknown> {
  const answer = ROUTES.get(route);
  if (answer === undefined) throw new RequestRefused(404, 'NOT_FOUND', 'There is no such thing here.');
  return await answer(routes, body);
}

function filterIn(body: JsonBody): RowFilter {
  const filter = FILTERS.find((each) => each === body['filter']);
  if (filter === undefined) throw new RequestRefused(400, 'BAD_REQUEST', `filter is one of ${FILTERS.join(', ')}.`);
  return filter;
}

function testRows(body: JsonBody): readonly number[] {
  const rows = numbersIn(body, 'rows');
  if (rows.length === 0 || rows.length > TEST_ROWS_MAX) {
    throw new RequestRefused(400, 'BAD_REQUEST', `A test is made of 1 to ${TEST_ROWS_MAX} rows.`);
  }
  return rows;
}
