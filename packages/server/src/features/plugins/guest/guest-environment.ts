import type { GuestHost } from '../../../sandbox/guest.ts'

/**
 * The environment that the guest functions of this folder share inside a realm. Each is sent there as text, so it may use its
 * parameters and ECMAScript only; `plugin-program.ts` assembles them in order.
 */
export interface GuestEnvironment {
  /** The modules that a plugin can import, by name. */
  modules: Record<string, unknown>
  fetch: GuestFetch
  /** Converts a result of the host for the plugin. */
  toResponse: (answer: unknown) => unknown
  createMeta: (setup: GuestSetup, jobNames: readonly string[]) => GuestMeta
  /** Set by the script with the plugin's own code. */
  plugin: GuestPlugin
}

export type GuestFunction = (host: GuestHost, environment: GuestEnvironment) => unknown

export type GuestFetch = (url: unknown, options?: Record<string, unknown>) => Promise<unknown>

/** Runs the plugin's code in the manner of CommonJS and returns what it declared at its top level. */
export type GuestPlugin = (
  module: { exports: unknown },
  exports: unknown,
  require: (name: string) => unknown,
) => Record<string, unknown> | undefined

export interface GuestSetup {
  config: Record<string, unknown>
  attachments: Record<string, { content_type: string; file_name: string; contents_base64: string }>
}

export type GuestMeta = Record<string, unknown>

/** The requests that the dispatcher of a realm handles. */
export type GuestRequest =
  | { op: 'describe' }
  | { op: 'setup'; setup: GuestSetup }
  | { op: 'call'; method: string; args: readonly unknown[] }
  | { op: 'job'; name: string; payload: unknown }

/** The response to `describe`. */
export interface GuestCapabilities {
  methods: string[]
  scheduled_tasks: string[]
  jobs: string[]
}
