import type { GuestHost } from '../../../sandbox/guest.ts'

/**
 * What the guest functions of this folder share inside a realm. Each of them is sent there as text, so it may use its
 * parameters and ECMAScript and nothing else; `plugin-program.ts` puts them together in the right order.
 */
export interface GuestScope {
  /** What `require` and `import` of a plugin can get, by name. */
  modules: Record<string, unknown>
  fetch: GuestFetch
  /** What a plugin gets for an answer of the host. */
  toResponse: (answer: unknown) => unknown
  createMeta: (setup: GuestSetup, jobNames: readonly string[]) => GuestMeta
  /** Set by the script with the plugin's own code. */
  plugin: GuestPlugin
}

export type GuestFunction = (host: GuestHost, scope: GuestScope) => unknown

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

/** What the dispatcher of a plugin's realm can be asked. */
export type GuestRequest =
  | { op: 'describe' }
  | { op: 'setup'; setup: GuestSetup }
  | { op: 'call'; method: string; args: readonly unknown[] }
  | { op: 'job'; name: string; payload: unknown }

/** The answer to `describe`. */
export interface GuestCapabilities {
  methods: string[]
  scheduled_tasks: string[]
  jobs: string[]
}
