export { type ClientEvents, type ClientStatus, createClient, type HalyardClient } from './client.ts'
export type { DefinitionsDocument } from './definitions.ts'
export type { Evaluation, EvaluationContext, EvaluationReason, EvaluationReasonCode } from './evaluation.ts'
export type { ClientOptions, DefinitionsCache, FetchInit, FetchResponse } from './options.ts'
