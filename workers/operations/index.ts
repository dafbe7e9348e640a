// The table of all operations, by their name in a Template. A new operation needs its file and one line here.

import type { OperationDefinition } from '../template/operation.ts';
import { aggregate } from './aggregate.ts';
import { appendRows } from './append-rows.ts';
import { blankDown } from './blank-down.ts';
import { blankIf } from './blank-if.ts';
import { cast } from './cast.ts';
import { checkTotals } from './check-totals.ts';
import { complete } from './complete.ts';
import { copy } from './copy.ts';
import { dedupe } from './dedupe.ts';
import { drop } from './drop.ts';
import { dropBlankRows } from './drop-blank-rows.ts';
import { dropRepeatedHeaders } from './drop-repeated-headers.ts';
import { expectColumns } from './expect-columns.ts';
import { explode } from './explode.ts';
import { extract } from './extract.ts';
import { fillDown } from './fill-down.ts';
import { fillEmpty } from './fill-empty.ts';
import { fillUp } from './fill-up.ts';
import { filter } from './filter.ts';
import { flattenJson } from './flatten-json.ts';
import { formatDate } from './format-date.ts';
import { formatNumber } from './format-number.ts';
import { generalize } from './generalize.ts';
import { hash } from './hash.ts';
import { join } from './join.ts';
import { lookupRange } from './lookup-range.ts';
import { mapValues } from './map-values.ts';
import { mask } from './mask.ts';
import { mergeColumns } from './merge-columns.ts';
import { mergeRows } from './merge-rows.ts';
import { parseDate } from './parse-date.ts';
import { parseDuration } from './parse-duration.ts';
import { parseJson } from './parse-json.ts';
import { parseNumber } from './parse-number.ts';
import { parseTime } from './parse-time.ts';
import { pivot } from './pivot.ts';
import { redact } from './redact.ts';
import { rename } from './rename.ts';
import { reorder } from './reorder.ts';
import { replace } from './replace.ts';
import { round } from './round.ts';
import { sample } from './sample.ts';
import { select } from './select.ts';
import { set } from './set.ts';
import { slice } from './slice.ts';
import { sort } from './sort.ts';
import { splitColumn } from './split-column.ts';
import { splitPairs } from './split-pairs.ts';
import { stopWhen } from './stop-when.ts';
import { text } from './text.ts';
import { toJson } from './to-json.ts';
import { top } from './top.ts';
import { transpose } from './transpose.ts';
import { unpivot } from './unpivot.ts';
import { validate } from './validate.ts';
import { window } from './window.ts';

/** All operations by topic, in the order of the reference. */
export const OPERATION_TOPICS: Readonly<Record<string, readonly OperationDefinition[]>> = {
  Columns: [
    select,
    drop,
    rename,
    reorder,
    copy,
    set,
    mergeColumns,
    splitColumn,
    splitPairs,
    extract,
    flattenJson,
    parseJson,
    toJson,
  ],
  'Texts and values': [text, replace, mapValues, fillEmpty, fillDown, fillUp, blankIf, blankDown],
  'Numbers, dates, types': [parseNumber, formatNumber, round, parseDate, parseTime, parseDuration, formatDate, cast],
  Rows: [filter, dropBlankRows, dropRepeatedHeaders, slice, stopWhen, dedupe, sort, top, sample, mergeRows, explode],
  'Groups and tables': [unpivot, pivot, transpose, aggregate, window, complete, appendRows, join, lookupRange],
  Checks: [validate, checkTotals, expectColumns],
  Privacy: [mask, hash, redact, generalize],
};

export const operationTable: ReadonlyMap<string, OperationDefinition> = new Map(
  Object.values(OPERATION_TOPICS).flatMap((definitions) =>
    definitions.map((definition) => [definition.name, definition]),
  ),
);
