// The bodies of the API's answers. Made by write-schemas.mjs from the OpenAPI document; change that one.

export interface Run {
  readonly id: string;
  readonly status: 'running' | 'succeeded' | 'failed';
  readonly template_id: string;
  readonly created_at: string;
  readonly completed_at?: string | null;
  readonly expires_at?: string | null;
  readonly rows_written?: number | null;
  /** The output holds only the first rows, because an output ceiling was reached. */
  readonly truncated?: boolean;
  readonly output?: RunOutput | null;
  /** Rejected rows (CSV); only where the Template rejects. */
  readonly rejects?: RunOutput;
  readonly error?: RunError | null;
  /** null while the Run works, and where it ended before there was one. */
  readonly report?: Report | null;
}

export interface RunOutput {
  readonly name: string;
  readonly mime_type: string;
  readonly size_bytes: number;
  readonly download_url: string;
}

export interface RunError {
  /**
   * Why the Run failed.
   *
   * - `MALFORMED_FILE`: The form or the file is empty, broken, cut off, or not in the expected encoding.
   * - `FILE_TOO_LARGE`: The file is over the plan's ceiling, as received or when it is inflated; or one page of a Parquet file needs more memory than a Run may have.
   * - `ROW_LIMIT_EXCEEDED`: The file has more rows than the plan allows.
   * - `UNSUPPORTED_FILE_TYPE`: The body is no multipart form, or the file is neither CSV nor JSON nor a workbook nor Parquet: PDF, an image, a ZIP archive with several files, an encrypted or binary workbook, encrypted Parquet and the like.
   * - `INVALID_PARSE_PARAMS`: `delimiter` or `header_row` breaks its rule. (A header behind the end of the file is MALFORMED_FILE.)
   * - `TEMPLATE_COLUMNS_MISSING`: The file lacks columns that the Template reads, or two headers fit one column. The message also tells the delimiter, the header row and the number of columns it was read with.
   * - `INTERNAL_ERROR`: A mistake of the service. Its log has the request id.
   * - `RUN_INTERRUPTED`: The service stopped, or the Run's thread was lost, before its end.
   * - `RUN_TIMEOUT`: The Run took longer than 10 minutes (`--run-timeout-ms`).
   * - `RUN_RESOURCE_LIMIT`: Output too large, disk full, or a row needs more memory than there is.
   * - `TEMPLATE_ROW_ERROR`: A row broke a rule of the Template (`on_error: fail`).
   * - `TEMPLATE_TOO_MANY_ERRORS`: More rows than `max_errors` or `max_error_ratio` allow.
   * - `TEMPLATE_CHECK_FAILED`: A check on all rows, or on the columns, did not hold.
   */
  readonly code:
    | 'MALFORMED_FILE'
    | 'FILE_TOO_LARGE'
    | 'ROW_LIMIT_EXCEEDED'
    | 'UNSUPPORTED_FILE_TYPE'
    | 'INVALID_PARSE_PARAMS'
    | 'TEMPLATE_COLUMNS_MISSING'
    | 'INTERNAL_ERROR'
    | 'RUN_INTERRUPTED'
    | 'RUN_TIMEOUT'
    | 'RUN_RESOURCE_LIMIT'
    | 'TEMPLATE_ROW_ERROR'
    | 'TEMPLATE_TOO_MANY_ERRORS'
    | 'TEMPLATE_CHECK_FAILED';
  readonly message: string;
}

/** Rows, changed cells and row errors per operation; never a value of the file. */
export interface Report {
  readonly template_sha256: string;
  readonly rows_read: number;
  readonly rows_written: number;
  /** How the file was read. */
  readonly input: {
    readonly type: string;
    readonly encoding: string;
    readonly delimiter: string | null;
    readonly header_row: number | null;
    readonly errors: RowErrors;
    /** Only where there were such quotes. */
    readonly quotes_after_space?: true;
    /** Only where several lines were joined into one header. */
    readonly header_lines?: number;
    /** Of a workbook: where the rows stand that errors name, the first 100 of them. All count from 1. */
    readonly places?: readonly {
      readonly row: number;
      readonly sheet: number;
      readonly sheet_row: number;
    }[];
    /** Only where lines were left out as comments. */
    readonly comment_lines?: number;
  };
  readonly operations: readonly {
    readonly operation: string;
    /** The Template's own id of the operation. */
    readonly id: string | null;
    readonly rows_in: number;
    readonly rows_out: number;
    readonly cells_changed: number;
    readonly errors: RowErrors;
  }[];
  readonly output: {
    readonly formulas_guarded: number;
    readonly errors?: RowErrors;
  };
  /** The file of rejected rows; only where the Template rejects rows. */
  readonly rejects?: {
    readonly rows: number;
    readonly size_bytes: number;
  };
  /** The reference tables that were read. */
  readonly tables: { readonly [key: string]: string };
  /** Only where the report was too long and lost its operations. */
  readonly shortened?: true;
}

/** By the code of a row error. */
export type RowErrors = {
  readonly [key: string]: {
    readonly count: number;
    /** The first source rows, counted from 1 below the header. */
    readonly rows: readonly number[];
  };
};

export interface Template {
  readonly id: string;
  readonly name?: string | null;
  readonly description?: string | null;
  readonly output_format?: string | null;
}

export interface TemplateList {
  readonly data: readonly Template[];
}

export interface Quota {
  readonly used: number;
  readonly limit: number;
  readonly resets_at: string;
}

export interface Usage {
  /** Runs of this billing period: those charged, and those in flight that may be. */
  readonly used: number;
  /** null: the plan has none. */
  readonly limit: number | null;
  /** When the next billing period begins. */
  readonly resets_at: string;
  /** Uploads and Runs that are not over. */
  readonly runs_in_flight: number;
  readonly ceilings: Ceilings;
}

/** The plan's ceilings; null: there is none. */
export interface Ceilings {
  /** Runs at the same time. */
  readonly runs_in_flight_max: number | null;
  /** Of a file as it is sent. */
  readonly upload_bytes_max: number | null;
  /** Of a compressed file once it is inflated. */
  readonly inflated_bytes_max: number | null;
  /** Data rows of a file. */
  readonly rows_max: number | null;
  /** Rows after which an output is cut. */
  readonly output_rows_max: number | null;
  /** Of an output. */
  readonly output_bytes_max: number | null;
}

export interface ErrorBody {
  readonly error:
    | 'MALFORMED_REQUEST'
    | 'API_KEY_MISSING'
    | 'API_KEY_INVALID'
    | 'EXPORT_LIMIT_REACHED'
    | 'INSUFFICIENT_SCOPE'
    | 'NO_SUBSCRIPTION'
    | 'NOT_FOUND'
    | 'TEMPLATE_NOT_FOUND'
    | 'RUN_NOT_FOUND'
    | 'METHOD_NOT_ALLOWED'
    | 'IDEMPOTENCY_KEY_REUSED'
    | 'PRECONDITION_FAILED'
    | 'RANGE_NOT_SATISFIABLE'
    | 'INVALID_IDEMPOTENCY_KEY'
    | 'CONCURRENCY_LIMIT_REACHED'
    | 'RATE_LIMITED'
    | 'SERVER_BUSY'
    | 'MALFORMED_FILE'
    | 'FILE_TOO_LARGE'
    | 'ROW_LIMIT_EXCEEDED'
    | 'UNSUPPORTED_FILE_TYPE'
    | 'INVALID_PARSE_PARAMS'
    | 'TEMPLATE_COLUMNS_MISSING'
    | 'INTERNAL_ERROR';
  readonly message: string;
  readonly request_id?: string;
  /** With TEMPLATE_COLUMNS_MISSING: the columns by template name. */
  readonly columns?: readonly string[];
}

export interface QuotaErrorBody extends ErrorBody {
  readonly quota: Quota;
}
