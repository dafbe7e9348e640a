// Values of which a test needs only some parts.

/** Each given part has its type in T. The test must not use parts that are not given. */
export function partly<T>(parts: Partial<T>): T {
  return parts as T;
}
