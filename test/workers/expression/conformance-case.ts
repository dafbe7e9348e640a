// Reads the test cases of @bufbuild/cel-spec: which cases are left out and why, and the conversion of their values and types.
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  NULL,
  optionalOf,
  STRING,
  TIMESTAMP,
  type Type,
  typeOf,
  UINT,
} from '../../../workers/expression/check/type.ts';
import { MapValue, TypeValue, Uint, type Value } from '../../../workers/expression/compile/value.ts';
import { parseDuration, parseTimestamp } from '../../../workers/values/timestamp.ts';

/** A message of the test data in protobuf's JSON format. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export interface ConformanceCase {
  readonly suite: string;
  readonly name: string;
  readonly original: {
    readonly expr: string;
    readonly value?: Json;
    readonly typedResult?: { readonly result?: Json; readonly deducedType?: Json };
    readonly evalError?: Json;
    readonly disableCheck?: boolean;
    readonly checkOnly?: boolean;
    readonly container?: string;
    readonly typeEnv?: readonly {
      readonly name: string;
      readonly ident?: { readonly type: Json };
      readonly function?: Json;
    }[];
    readonly bindings?: { readonly [name: string]: { readonly value?: Json } };
  };
}

/** A message literal, an enum, or an extension field of a message, in an expression. */
const MESSAGE_WRITTEN =
  /\b[A-Z]\w*\s*\{|TestAllTypes|NestedEnum|GlobalEnum|NullValue|proto\.(?:get|has)Ext|proto[23]\.|google\.protobuf\.(?!Timestamp|Duration)/;

/** A test message or an Any, as the type or value of a variable or as the result. Wrapper messages are plain values. */
const MESSAGE_BOUND = /TestAllTypes|NestedEnum|GlobalEnum|google\.protobuf\.Any|proto[23]\.[A-Z]/;

/** Why a case is left out: the first matching rule. No case is left out by name. */
export const RULES: readonly { readonly reason: string; readonly holds: (test: ConformanceCase) => boolean }[] = [
  {
    reason: 'writes or reads protobuf messages or enums',
    holds: ({ original: { expr, ...test } }) => MESSAGE_WRITTEN.test(expr) || MESSAGE_BOUND.test(JSON.stringify(test)),
  },
  {
    reason: "cel.block is an optimizer's notation, no part of the language",
    holds: ({ original }) => /cel\.(?:block|index|iterVar)\(/.test(original.expr),
  },
  {
    reason: 'declares functions of its own',
    holds: ({ original }) => (original.typeEnv ?? []).some((entry) => entry.function !== undefined),
  },
];

interface Suite {
  readonly name: string;
  readonly suites?: readonly Suite[];
  readonly tests?: readonly { readonly original: unknown }[];
}

/** All cases with the path of their suites. */
export function* casesOf(suite: Suite, path = ''): Iterable<ConformanceCase> {
  for (const inner of suite.suites ?? []) yield* casesOf(inner, path === '' ? inner.name : `${path}/${inner.name}`);
  for (const { original } of suite.tests ?? []) {
    const read = original as ConformanceCase['original'] & { readonly name?: string };
    yield { suite: path, name: read.name ?? read.expr, original: read };
  }
}

/** Converts a cel.expr.Value. */
export function valueOfJson(json: Json): Value {
  const [kind, content] = Object.entries(json as object)[0] as [string, Json];
  switch (kind) {
    case 'nullValue':
      return null;
    case 'boolValue':
    case 'stringValue':
      return content as boolean | string;
    case 'int64Value':
      return BigInt(content as string);
    case 'uint64Value':
      return new Uint(BigInt(content as string));
    case 'doubleValue':
      return Number(content);
    case 'bytesValue':
      return Uint8Array.from(Buffer.from(content as string, 'base64'));
    case 'typeValue':
      return new TypeValue(content as string);
    case 'listValue':
      return ((content as { values?: readonly Json[] }).values ?? []).map(valueOfJson);
    case 'mapValue': {
      const map = new MapValue();
      for (const entry of (content as { entries?: readonly { key: Json; value: Json }[] }).entries ?? []) {
        map.add(valueOfJson(entry.key), valueOfJson(entry.value));
      }
      return map;
    }
    case 'objectValue': {
      const message = content as { readonly '@type': string; readonly value: Json };
      return valueOfWellKnown(message['@type'].replace(/^.*\./, ''), message.value);
    }
    default:
      throw new Error(`a value of kind ${kind} is not expected`);
  }
}

/** Converts a google.protobuf message to the plain value that CEL makes of it. */
function valueOfWellKnown(name: string, content: Json): Value {
  switch (name) {
    case 'Duration':
      return parseDuration(content as string);
    case 'Timestamp':
      return parseTimestamp(content as string);
    case 'Int32Value':
    case 'Int64Value':
      return BigInt(content as string);
    case 'UInt32Value':
    case 'UInt64Value':
      return new Uint(BigInt(content as string));
    case 'FloatValue':
    case 'DoubleValue':
      return Number(content);
    case 'BytesValue':
      return Uint8Array.from(Buffer.from(content as string, 'base64'));
    case 'BoolValue':
    case 'StringValue':
    case 'ListValue':
    case 'Struct':
    case 'Value':
      return valueOfPlainJson(content);
    default:
      throw new Error(`a message ${name} is not expected`);
  }
}

function valueOfPlainJson(json: Json): Value {
  if (Array.isArray(json)) return json.map(valueOfPlainJson);
  if (json === null || typeof json !== 'object') return json as Value;
  const map = new MapValue();
  for (const [key, content] of Object.entries(json)) map.add(key, valueOfPlainJson(content));
  return map;
}

/** Converts a cel.expr.Type. */
export function typeOfJson(json: Json): Type {
  const [kind, content] = Object.entries(json as object)[0] as [string, Json];
  const inner = (content ?? {}) as { readonly [key: string]: Json };
  switch (kind) {
    case 'primitive':
      return PRIMITIVES[content as string]!;
    case 'null':
      return NULL;
    case 'wellKnown':
      return content === 'TIMESTAMP' ? TIMESTAMP : DURATION;
    case 'messageType':
      return content === 'google.protobuf.Timestamp'
        ? TIMESTAMP
        : content === 'google.protobuf.Duration'
          ? DURATION
          : DYN;
    case 'listType':
      return listOf(typeOfJson(inner['elemType'] ?? { dyn: {} }));
    case 'mapType':
      return mapOf(typeOfJson(inner['keyType'] ?? { dyn: {} }), typeOfJson(inner['valueType'] ?? { dyn: {} }));
    case 'type':
      return typeOf(DYN);
    case 'abstractType':
      return optionalOf(typeOfJson((inner['parameterTypes'] as readonly Json[])[0]!));
    default:
      return DYN;
  }
}

const PRIMITIVES: Readonly<Record<string, Type>> = {
  BOOL,
  INT64: INT,
  UINT64: UINT,
  DOUBLE,
  STRING,
  BYTES,
};
