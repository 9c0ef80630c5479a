import { createClient, type Evaluation, type EvaluationContext, type FetchInit } from '@halyard/client'
import { HalyardProvider } from '@halyard/openfeature-server'
import { HalyardWebProvider } from '@halyard/openfeature-web'
import type { Definitions, Subject } from '../../../packages/engine/src/index.ts'
import type { StoredSubject } from '../../../packages/server/src/evaluation/subjects/gather-subject.ts'
import type { DefinitionsServer } from './definitions-server.ts'

/** A person as requests describe them, and what the server has stored. */
export interface ComparedSubject {
  readonly subject: Subject
  readonly stored?: StoredSubject
}

/** The flags of `POST /flags/?v=2` by key. */
export type FlagsResponse = Readonly<Record<string, Json>>

export interface Comparison {
  /** By subject. */
  readonly responses: readonly FlagsResponse[]
  /** Evaluations that were compared with the server's: each flag through three clients. */
  readonly compared: number
  /** How many of the client's evaluations were made in process, and how many on the server because of stored persons. */
  readonly local: number
  readonly asked: number
  /** What differs, as the bytes on both sides. */
  readonly differences: readonly string[]
}

type Json = Readonly<Record<string, unknown>>
type OfrepFlag = Json & { readonly key: string }

/**
 * Evaluates each flag for each person through `@halyard/client`, the provider for servers and the provider for browsers, and compares the
 * complete evaluations with the server's own responses. With keys, only these flags.
 */
export async function compareWithServer(
  server: DefinitionsServer,
  definitions: Definitions,
  subjects: readonly ComparedSubject[],
  keys?: readonly string[],
): Promise<Comparison> {
  const { url } = server
  const project = server.add(definitions)
  const differences: string[] = []
  const onError = (error: Error) => {
    // A flag that the server fails to evaluate is reported, and compared like all others.
    if (!error.message.startsWith('The server failed to evaluate ')) differences.push(String(error))
  }
  const client = createClient({ url, key: project.secretKey, exposures: false, fetch: withoutDate, onError })
  const provider = new HalyardProvider(client)
  const responses: FlagsResponse[] = []
  const counts = { compared: 0, local: 0, asked: 0 }
  let who = ''
  const compare = (name: string, actual: unknown, expected: unknown) => {
    const [left, right] = [canonicalJson(actual), canonicalJson(expected)]
    if (left !== right) differences.push(`${name}, ${who}:\n${left}\n${right}`)
  }
  try {
    if (!(await client.ready())) throw new Error(`The definitions did not arrive: ${differences}`)
    for (const { subject, stored } of subjects) {
      who = subject.distinctId
      project.store(who, stored ?? {})
      const context = openFeatureContext(subject)
      const { flags } = await post(`${url}/flags/?v=2`, {
        ...flagsBody(project.token, subject),
        flag_keys_to_evaluate: keys,
      })
      const bulk = await post(`${url}/ofrep/v1/evaluate/flags`, { context }, project.token)
      responses.push(flags as FlagsResponse)
      const isWanted = ({ key }: { readonly key: string }) => keys?.includes(key) ?? true
      const ofrep = (bulk.flags as readonly OfrepFlag[]).filter(isWanted)

      const all = await client.evaluateAll(clientContext(subject))
      const evaluations = new Map(all.filter(isWanted).map(one => [one.key, one]))
      compare('keys of the client', [...evaluations.keys()].sort(), ofrep.map(({ key }) => key).sort())
      for (const [key, evaluation] of evaluations) {
        counts[evaluation.source === 'local' ? 'local' : 'asked'] += 1
        // `/flags/` leaves disabled flags out.
        const detail = evaluation.reason.code === 'flag_disabled' ? undefined : flagDetail(evaluation)
        compare('client and /flags/', detail, (flags as FlagsResponse)[key])
      }

      const web = new HalyardWebProvider({ url, token: project.token, storage: null, stream: false })
      await web.initialize(context as never)
      for (const flag of ofrep) {
        counts.compared += 3
        compare('client and OFREP', ofrepOf(evaluations.get(flag.key)!), flag)
        const onServer = await resolved(provider, flag, context)
        compare('provider for servers', onServer.flag, flag)
        compare('its own metadata', onServer.added, { contextId: subject.distinctId, flagSetId: project.flagSetId })
        const inBrowser = await resolved(web, flag, context)
        compare('provider for browsers', inBrowser.flag, flag)
        if (!('errorCode' in flag)) compare('its own metadata', inBrowser.added, onServer.added)
      }
      await web.onClose()
    }
  } finally {
    await client.close()
    project.remove()
  }
  return { responses, ...counts, differences }
}

/** The clock of the tests is not that of `node:http`, whose header the client would correct its own clock by. */
async function withoutDate(address: string, init: FetchInit) {
  const response = await fetch(address, init as RequestInit)
  const headers = new Headers(response.headers)
  headers.delete('date')
  return { status: response.status, headers, body: response.body, text: () => response.text() }
}

async function post(address: string, body: unknown, key?: string): Promise<Json> {
  const authorization = key === undefined ? undefined : { authorization: `Bearer ${key}` }
  const headers = { 'content-type': 'application/json', ...authorization }
  const response = await fetch(address, { method: 'POST', headers, body: JSON.stringify(body) })
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`)
  return (await response.json()) as Json
}

const flagsBody = (token: string, subject: Subject): Json => ({
  token,
  distinct_id: subject.distinctId,
  person_properties: subject.personProperties,
  groups: subject.groups,
  group_properties: subject.groupProperties,
  $device_id: subject.deviceId,
  $anon_distinct_id: subject.anonDistinctId,
  evaluation_runtime: 'server',
})

const clientContext = ({ inStaticCohort, hashKeyOverrides, ...context }: Subject) => context as EvaluationContext

const openFeatureContext = (subject: Subject): Json => ({
  ...subject.personProperties,
  targetingKey: subject.distinctId,
  groups: subject.groups,
  groupProperties: subject.groupProperties,
  ...(subject.deviceId !== undefined && { $device_id: subject.deviceId }),
  ...(subject.anonDistinctId !== undefined && { $anon_distinct_id: subject.anonDistinctId }),
})

/** An evaluation of the client in the shape of `/flags/`. */
function flagDetail({ key, value, variant, payloadText, reason, flagId, version }: Evaluation): Json {
  return {
    key,
    enabled: typeof value === 'string' || value === true,
    variant,
    reason: { code: reason.code, condition_index: reason.conditionIndex, description: reason.description },
    metadata: { id: flagId, version, description: null, payload: payloadText, has_experiment: false },
    ...(value === undefined && { failed: true }),
  }
}

/** The same in the shape of OFREP. */
function ofrepOf({ key, openFeature, reason, flagId, version, payloadText, payload }: Evaluation): Json {
  if (openFeature.reason === 'ERROR') return failure(key, 'GENERAL', `${reason.description}.`)
  if (payloadText === null && payload !== undefined) throw new Error(`${key} has a payload without text.`)
  const metadata = { flagId, version, reasonCode: reason.code, ...(payloadText !== null && { payload: payloadText }) }
  return { key, ...openFeature, reason: ofrepReason(openFeature.reason), metadata }
}

const failure = (key: string, errorCode: string, errorDetails: string): Json => ({ key, errorCode, errorDetails })

/** OFREP has no DEFAULT. */
const ofrepReason = (reason: string | undefined) => (reason === 'DEFAULT' ? 'UNKNOWN' : reason)

/** Returned by a provider where the default in the code applies. */
const codeDefault = {} as never

/** What an application gets from the provider, in the shape of OFREP, and the metadata that the provider adds. */
async function resolved(provider: HalyardProvider | HalyardWebProvider, flag: OfrepFlag, context: Json) {
  const { key } = flag
  const given = context as never
  const kinds = {
    boolean: () => provider.resolveBooleanEvaluation(key, codeDefault, given),
    string: () => provider.resolveStringEvaluation(key, codeDefault, given),
    number: () => provider.resolveNumberEvaluation(key, codeDefault, given),
    object: () => provider.resolveObjectEvaluation(key, codeDefault, given),
    undefined: () => provider.resolveBooleanEvaluation(key, codeDefault, given),
  }
  const details = await kinds[typeof flag.value as keyof typeof kinds]()
  const { contextId, flagSetId, source, ...metadata } = details.flagMetadata ?? {}
  const added = { contextId, flagSetId }
  if (details.errorCode !== undefined) {
    return { flag: failure(key, details.errorCode, details.errorMessage ?? ''), added }
  }
  const value = details.value === codeDefault ? undefined : details.value
  return { flag: { key, value, variant: details.variant, reason: ofrepReason(details.reason), metadata }, added }
}

/** The same bytes for the same content: sorted keys, and no fields that are undefined. */
export function canonicalJson(value: unknown): string {
  return (
    JSON.stringify(value, (_key, inner: unknown) =>
      typeof inner === 'object' && inner !== null && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).sort(([left], [right]) => (left < right ? -1 : 1)))
        : inner,
    ) ?? 'undefined'
  )
}
