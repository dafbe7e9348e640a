// The menus of columns and cells: each entry opens a form that can show its values, and the checker accepts what the form
// would write, unless something is still missing.
import { test } from 'tap';
import { operationForm } from '../../../../src/studio/language.ts';
import { completed, fits, missingProperties } from '../../../../src/studio/page/form-model.ts';
import {
  cellMenu,
  columnMenu,
  columnReference,
  columnsMenu,
  dateFormats,
  facetCondition,
  type MenuEntry,
  type MenuGroup,
  numberForm,
  rowMenu,
  type Step,
  valueExpression,
} from '../../../../src/studio/page/menu-entries.ts';
import { partMenu } from '../../../../src/studio/page/part-pattern.ts';
import { operationTable } from '../../../../workers/operations/index.ts';
import { checkTemplate } from '../../../../workers/plan/template-cache.ts';
import { compileDatePattern } from '../../../../workers/values/date-pattern.ts';
import type { Profile } from '../../../../workers/watch/column-profile.ts';

const NAMES = ['amount', 'Invoice No', 'a"b`c', 'in', 'Größe'];

const CELLS = {
  text: ['{"a": {"b": [1]}}', '[1]', 'x', 'a "b" \\ c', '', '1.234,50', 'n/a', 'a; b', null],
  integer: ['7', '-7', null],
  decimal: ['12.50', '-0.01', null],
  number: ['1', '1.5', '1e21', '-2', null],
  boolean: ['true', null],
  date: ['2026-01-31', null],
  datetime: ['2026-01-31T10:00:00Z', null],
  json: ['{"a": 1}', null],
} as const;

type ColumnType = keyof typeof CELLS;

function profileOf(texts: readonly (string | null)[]): Profile {
  const frequent = texts.flatMap((text) => (text === null || text === '' ? [] : [{ text, count: 1 }]));
  return {
    rows: texts.length,
    blank: 0,
    distinct: frequent.length,
    moreDistinct: false,
    frequent,
    shapes: [],
    least: null,
    most: null,
    histogram: null,
    edges: [],
  };
}

function entriesOf(groups: readonly MenuGroup[]): readonly MenuEntry[] {
  return groups.flatMap(({ entries }) => entries);
}

/** A Template with a column of this name and type before the step. */
function templateWith(name: string, type: ColumnType, step: Step): string {
  const cast = type === 'text' ? [] : [{ cast: { columns: { [name]: type } } }];
  return JSON.stringify({ format: 1, operations: [...cast, step] });
}

test('each entry opens a form with its values, and means a valid step', async (t) => {
  let checked = 0;
  for (const name of NAMES) {
    for (const [type, cells] of Object.entries(CELLS) as [ColumnType, readonly (string | null)[]][]) {
      const column = { id: 1, name, type };
      const menus = [columnMenu(column, profileOf(cells)), columnMenu(column, null)];
      for (const cell of cells) {
        menus.push(cellMenu(column, cell));
        menus.push(rowMenu([column], [cell], [profileOf(cells)], 3), rowMenu([column], [cell], [null], null));
        if (type === 'text' && cell !== null && cell !== '')
          menus.push([partMenu(name, { text: cell, from: 0, to: cell.length }, [])]);
      }
      menus.push(columnsMenu([column]));
      for (const { label, step } of menus.flatMap(entriesOf)) {
        const [[operation, values]] = Object.entries(step) as [[string, Readonly<Record<string, unknown>>]];
        const definition = operationTable.get(operation);
        if (definition === undefined) return t.fail(`${label}: no operation ${operation}`);
        const form = operationForm(definition);
        for (const [key, value] of Object.entries(values)) {
          const property = form.properties.find((each) => each.name === key);
          if (property === undefined || !fits(property.field, value)) t.fail(`${label}, ${name}: ${key}`);
        }
        if (missingProperties(form, values).length > 0) continue;
        const result = checkTemplate(templateWith(name, type, { [operation]: completed(form, values) }), 'json');
        if ('problems' in result) t.fail(`${label}, ${type}: ${JSON.stringify(step)}: ${result.problems[0]!.message}`);
        checked++;
      }
    }
  }
  t.ok(checked > 500, `${checked} steps were checked`);
});

test('a menu depends on the type and the cells of its column', async (t) => {
  const labels = (type: ColumnType, cells: readonly string[]): string[] =>
    entriesOf(columnMenu({ id: 1, name: 'a', type }, profileOf(cells))).map(({ label }) => label);
  t.ok(labels('text', []).includes('Read as number…'));
  t.notOk(labels('decimal', []).includes('Read as number…'));
  const steps = (cell: string): readonly Step[] =>
    entriesOf(columnMenu({ id: 1, name: 'a', type: 'text' }, profileOf([cell]))).map(({ step }) => step);
  t.match(steps('{"id": 1, "to": {"city": "Oslo", "a b": 1}, "tags": ["x"]}')[0], {
    flatten_json: { column: 'a', fields: { id: 'a_id', 'to.city': 'a_to_city', tags: 'a_tags' } },
  });
  t.strictSame(steps('["x"]')[0], { explode: { column: 'a' } });
  t.ok(labels('decimal', []).includes('Round…'));
  t.ok(labels('text', ['x', '-', 'n/a']).includes('Blank -, n/a…'));
  t.strictSame(
    entriesOf(cellMenu({ id: 1, name: 'a', type: 'text' }, null)).map(({ label }) => label),
    [
      'Keep rows with this value…',
      'Drop rows with this value…',
      'End the table here…',
      'Fill blank cells…',
      'Fill down…',
    ],
  );
});

test('columns of groups are turned into rows together', async (t) => {
  const steps = (...names: string[]): readonly Step[] =>
    entriesOf(columnsMenu(names.map((name, id) => ({ id, name, type: 'decimal' })))).map(({ step }) => step);
  const names = ['jan_net', 'jan_tax (%)', 'feb_net', 'feb_tax (%)'];
  t.notOk(
    steps(...names).some(({ unpivot }) => unpivot !== undefined && 'pattern' in unpivot),
    'a space is a separator',
  );
  const months = ['jan_net', 'jan_tax', 'feb_net', 'feb_tax'];
  const step = steps(...months).find(({ unpivot }) => unpivot !== undefined);
  t.strictSame(step, {
    unpivot: { columns: months, pattern: '(.+)[ _.-](net|tax)', names_to: ['name', '.value'] },
  });
  t.notOk('problems' in checkTemplate(JSON.stringify({ format: 1, operations: [step] }), 'json'));
  t.strictSame(steps('jan_net', 'jan_tax', 'feb_net')[1], { unpivot: { columns: ['jan_net', 'jan_tax', 'feb_net'] } });
});

test('a text of spaces is blank, as in the table', async (t) => {
  const facet = { column: 'a', text: null, range: null };
  t.equal(facetCondition({ ...facet, type: 'text' }), 'is_blank(a)');
  t.equal(facetCondition({ ...facet, type: 'date' }), 'a == null');
  const full = { ...profileOf(['x', 'y', 'z']), blank: 1 };
  const [, stop] = entriesOf(rowMenu([{ id: 1, name: 'a', type: 'text' }], ['  '], [full], 3));
  t.strictSame(stop?.step, { stop_when: { where: 'is_blank(a)' } });
});

test('formats are guessed from cells', async (t) => {
  const numbers = (...texts: string[]): unknown => numberForm(texts);
  t.strictSame(numbers('1.234,50', '7'), { decimal: ',', grouping: '.' });
  t.strictSame(numbers('1,234.50'), { decimal: '.', grouping: ',' });
  t.strictSame(numbers("CHF 1'234"), { decimal: '.', grouping: "'", strip: ['CHF'] });
  t.strictSame(numbers('1\u202f234,50 €', '-7,00 €'), { decimal: ',', grouping: ' ', strip: ['€'] });
  t.strictSame(numbers('(1.234.567,50)', '12,00-', 'x'), {
    decimal: ',',
    grouping: '.',
    negative: ['-x', '(x)', 'x-'],
  });
  t.strictSame(numbers('7,5 %'), { decimal: ',', percent: true });
  t.strictSame(numbers('7,5'), { decimal: ',' });
  t.strictSame(numbers('1,234', '7.5'), {});
  t.strictSame(numbers('-$12.50', '$3'), { strip: ['$'] });
  const dates: readonly (readonly [format: string, ...texts: string[]])[] = [
    ['dd.MM.yyyy', '05.04.2026'],
    ['dd.MM.yy', '05.04.26', 'open'],
    ['d.M.yyyy', '5.4.2026', '15.04.2026'],
    ['MM/dd/yyyy', '04/05/2026', '04/25/2026'],
    ['M/d/yy', '4/25/26'],
    ['dd-MM-yyyy', '25-04-2026'],
    ['yyyy/MM/dd HH:mm', '2026/04/25 10:15'],
    ['dd.MM.yyyy HH:mm:ss', '25.04.2026 10:15:00'],
    ["yyyy-MM-dd'T'HH:mm:ss", '2026-04-25T10:15:00'],
    ['d MMM yyyy', '5 Apr 2026'],
    ['d. MMMM yyyy', '5. April 2026'],
    ['MMM d, yyyy', 'Apr 5, 2026'],
    ['yyyyMMdd', '20260405'],
    ['yyyy-MM-dd', 'x'],
  ];
  for (const [format, ...texts] of dates) {
    t.strictSame(dateFormats(texts), [format]);
    const pattern = compileDatePattern(format, {});
    t.ok('problem' in pattern || texts[0] === 'x' || pattern.parse(texts[0]!) !== null, format);
    t.notOk('problem' in pattern, format);
  }
  t.equal(columnReference('amount'), 'amount');
  t.equal(columnReference('in'), 'row["in"]');
  t.equal(valueExpression('1e21', 'number'), '1e21');
  t.equal(valueExpression('{}', 'json'), null);
});
