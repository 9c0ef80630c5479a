import { randomUUID } from 'node:crypto'
import { type EvaluationRequest, type Properties, readEvaluationRequest } from '../evaluation/evaluation-request.ts'
import { type Evaluation, type Evaluator, isAsking } from '../evaluation/evaluator.ts'
import type { Asking } from '../evaluation/gather-subject.ts'
import type { Headers } from '../evaluation/request-runtime.ts'
import type { ServedProject } from '../evaluation/served-project.ts'
import type { Snapshots } from '../evaluation/snapshots.ts'
import { type AnswerRoom, ownRoom } from '../http/answer-room.ts'
import { type AnswerBody, bodyFrom } from '../http/quick-answer.ts'
import { invalid, Problem } from '../problem.ts'
import type { EvaluationCounts } from './evaluation-counts.ts'
import { createFastAnswers } from './fast-answer.ts'
import { type AnswerShape, type Envelope, plainAnswer } from './plain-answer.ts'
import { olderConfig, remoteConfig } from './remote-config.ts'

/** A request to evaluate, as the client libraries make it. */
export interface EvaluationCall {
  readonly endpoint: 'flags' | 'decide'
  readonly query: Readonly<Record<string, string | undefined>>
  readonly headers: Headers
}

export interface AnswerEvaluation {
  /** The JSON to answer with. Raises `unauthenticated`, `invalid`, `unavailable`. */
  whenReady(call: EvaluationCall, body: unknown): Promise<Buffer>
  /** For the usual call, `POST /flags/?v=2`: the same in a room, if it takes nothing that is not in memory; else undefined. */
  atOnce(headers: Headers, body: unknown, room: AnswerRoom): AnswerBody | undefined
}

interface Deps {
  readonly snapshots: Snapshots
  readonly evaluator: Evaluator
  readonly counts: EvaluationCounts
  readonly now?: () => number
}

export function createAnswerEvaluation({ snapshots, evaluator, counts, now = Date.now }: Deps): AnswerEvaluation {
  const fastAnswers = createFastAnswers()
  const envelopeOf = ({ isIncomplete }: Evaluation): Envelope => ({
    requestId: randomUUID(),
    evaluatedAt: now(),
    hasErrors: isIncomplete,
  })

  function fast(served: ServedProject, evaluation: Evaluation, room: AnswerRoom): AnswerBody {
    counts.add(evaluation.eligible.length)
    return fastAnswers(served)(evaluation.outcomes, evaluation.eligible, envelopeOf(evaluation), room)
  }

  function plain(served: ServedProject, asking: EvaluationRequest, evaluation: Evaluation, telling: Telling): Buffer {
    counts.add(evaluation.eligible.length)
    const config = configFor(served, telling)
    const envelope = { ...envelopeOf(evaluation), config, hasPayloadMap: asking.keys !== undefined }
    const { outcomes, eligible } = evaluation
    return Buffer.from(JSON.stringify(plainAnswer(served.snapshot.flags, outcomes, eligible, telling.shape, envelope)))
  }

  async function projectOf(request: EvaluationRequest, query: EvaluationCall['query']): Promise<ServedProject> {
    const token = request.token ?? query.token ?? query.api_key
    if (token === undefined) throw new Problem('unauthenticated', 'Send the project token as "token" or "api_key".')
    const served = snapshots.known(token) ?? (await snapshots.forToken(token))
    if (!served) throw new Problem('unauthenticated', 'No project has this token.')
    return served
  }

  return {
    async whenReady({ endpoint, query, headers }, body) {
      const request = readEvaluationRequest(body, headers)
      const served = await projectOf(request, query)
      const telling = tellingOf(endpoint, query)
      if (request.isWithoutFlags) return plain(served, request, nothingEvaluated, telling)
      const asking = named(request)
      const onlySurveys = isTrue(query.only_evaluate_survey_feature_flags)
      const evaluation = await evaluator.evaluate(served, asking, { onlySurveys })
      const isUsual = telling.shape === 'details' && !telling.hasConfig && asking.keys === undefined
      if (!isUsual) return plain(served, asking, evaluation, telling)
      const { bytes, from, to } = fast(served, evaluation, ownRoom)
      return bytes.subarray(from, to)
    },
    atOnce(headers, body, room) {
      const request = readEvaluationRequest(body, headers)
      const { token } = request
      const served = token === undefined || !isAsking(request) ? undefined : snapshots.known(token)
      if (served === undefined || request.isWithoutFlags) return undefined
      const evaluation = evaluator.evaluateAtOnce(served, request as Asking)
      if (evaluation === undefined) return undefined
      if (request.keys === undefined) return fast(served, evaluation, room)
      return bodyFrom(room, plain(served, request, evaluation, usualTelling))
    },
  }
}

const nothingEvaluated: Evaluation = {
  eligible: [],
  outcomes: { outcomeIndex: () => -1 },
  subject: { distinctId: '' },
  isIncomplete: false,
}

function named(request: EvaluationRequest): Asking {
  if (isAsking(request)) return request
  throw invalid('distinct_id', 'required', 'Send a distinct_id: a text that is not empty, or a number.')
}

/** How the answer is told. */
interface Telling {
  readonly shape: AnswerShape
  readonly hasConfig: boolean
  readonly isOld: boolean
}

const usualTelling: Telling = { shape: 'details', hasConfig: false, isOld: false }

function tellingOf(endpoint: EvaluationCall['endpoint'], query: EvaluationCall['query']): Telling {
  const version = /^\d+$/.test(query.v ?? '') ? Number(query.v) : undefined
  if (endpoint === 'decide') {
    const shapes: Record<number, AnswerShape> = { 2: 'enabled_values', 3: 'values' }
    const old = version === undefined || version < 2 ? 'enabled_keys' : (shapes[version] ?? 'details')
    return { shape: old, hasConfig: true, isOld: true }
  }
  const isBare = query.v === undefined && query.config === undefined
  return { shape: version === 1 ? 'values' : 'details', hasConfig: isBare || isTrue(query.config), isOld: false }
}

const configFor = ({ project }: ServedProject, { hasConfig, isOld }: Telling): Properties | undefined =>
  hasConfig ? { ...remoteConfig(project.apiToken), ...(isOld && olderConfig) } : undefined

const isTrue = (text: string | undefined): boolean => text === 'true' || text === '1' || text === ''
