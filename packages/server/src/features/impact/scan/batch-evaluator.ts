import { compile, type EvaluateOptions, type Outcome, type Snapshot, type Subject } from '@halyard/engine'
import { linearRegex } from '../../../evaluation/linear-regex.ts'
import { needsIdentity } from '../needs-identity.ts'
import type { Batch, Needs } from './batch.ts'
import { PropertyLines } from './property-lines.ts'
import type { Question, ScanRequest, Target } from './scan-request.ts'

/** The outcomes of all flags in question for somebody, and how many got them. Shared, so it can be compared by identity. */
export interface Joint {
  readonly outcomes: readonly Outcome[]
  count: number
}

type Branch = Map<string | undefined, Branch | Joint>

const rememberedMax = 50_000

interface Asked {
  readonly snapshot: Snapshot
  readonly flagIndex: number
  readonly options: EvaluateOptions
}

/**
 * Answers questions for one batch after another. Whom nothing tells apart but the values of the properties that are read gets the answer that
 * was worked out for the first one like them.
 */
export class BatchEvaluator {
  readonly needs: Needs
  readonly joints: Joint[] = []
  readonly #target: Target
  readonly #asked: readonly Asked[]
  readonly #names: readonly string[]
  readonly #lines: PropertyLines
  /** Whether properties alone decide, so that one answer serves all who are alike. */
  readonly #isAlike: boolean
  readonly #values: (string | undefined)[]
  readonly #remembered: Branch = new Map()
  #rememberedCount = 0
  /** How often memoization has paid off. */
  #recalled = 0
  readonly #byOutcomes = new Map<string, Joint>()

  constructor({ questions, target, now }: ScanRequest, wantsIds: boolean) {
    this.#target = target
    this.#asked = questions.map(question => ask(question, now))
    const requirements = this.#asked.map(({ snapshot }) => snapshot.requirements)
    const isPersons = target.kind === 'persons'
    // What everybody has without its being stored; yet a property of this name may be stored as well, and then it counts.
    const ownName = isPersons ? 'distinct_id' : '$group_key'
    const readsOwnName = questions.some(question => mentions(question, ownName))
    const names = requirements.flatMap(required => [
      ...(isPersons ? required.personProperties : (required.groupProperties.get(target.type) ?? [])),
    ])
    if (readsOwnName) names.push(ownName)
    this.#names = [...new Set(names)]
    this.#lines = new PropertyLines(this.#names)
    this.#values = this.#names.map(() => undefined)
    const staticCohorts = isPersons ? requirements.flatMap(required => [...required.staticCohorts]) : []
    const continuityFlags = isPersons ? requirements.flatMap(required => required.continuityFlags) : []
    const isPersonal =
      continuityFlags.length > 0 ||
      readsOwnName ||
      questions.some(({ definitions }) => definitions.flags.some(flag => needsIdentity(flag.filters)))
    this.#isAlike = !isPersonal && staticCohorts.length === 0
    this.needs = {
      ids: wantsIds || staticCohorts.length > 0 || continuityFlags.length > 0,
      identities: isPersonal || !isPersons,
      staticCohorts: [...new Set(staticCohorts)],
      continuityFlags: [...new Set(continuityFlags)],
    }
  }

  /** Calls back for each row of the batch, in order. */
  evaluate(batch: Batch, each: (joint: Joint, row: number) => void): void {
    this.#lines.open(batch.properties)
    for (let row = 0; row < batch.size; row++) {
      this.#lines.read(this.#values)
      const joint =
        this.#isAlike && this.#isWorthRemembering() ? this.#recall(batch, row) : this.#work(this.#subject(batch, row))
      joint.count += 1
      each(joint, row)
    }
  }

  #isWorthRemembering(): boolean {
    return this.#rememberedCount < rememberedMax || this.#recalled > rememberedMax
  }

  #recall(batch: Batch, row: number): Joint {
    const values = this.#values
    let branch = this.#remembered
    const last = values.length - 1
    for (let field = 0; field < last; field++) {
      let next = branch.get(values[field]) as Branch | undefined
      if (next === undefined) {
        next = new Map()
        if (this.#rememberedCount < rememberedMax) {
          branch.set(values[field], next)
          this.#rememberedCount += 1
        }
      }
      branch = next
    }
    const known = branch.get(values[last]) as Joint | undefined
    if (known !== undefined) {
      this.#recalled += 1
      return known
    }
    const joint = this.#work(this.#subject(batch, row))
    if (this.#rememberedCount < rememberedMax) {
      branch.set(values[last], joint)
      this.#rememberedCount += 1
    }
    return joint
  }

  #work(subject: Subject): Joint {
    const results = this.#asked.map(({ snapshot, options }) => snapshot.evaluate(subject, options))
    let name = ''
    for (let index = 0; index < results.length; index++) {
      name += `${results[index]!.outcomeIndex(this.#asked[index]!.flagIndex)} `
    }
    let joint = this.#byOutcomes.get(name)
    if (joint === undefined) {
      const outcomes = results.map((result, index) => result.outcome(this.#asked[index]!.flagIndex)!)
      joint = { outcomes, count: 0 }
      this.#byOutcomes.set(name, joint)
      this.joints.push(joint)
    }
    return joint
  }

  #subject(batch: Batch, row: number): Subject {
    const properties: Record<string, unknown> = Object.create(null)
    for (let field = 0; field < this.#names.length; field++) {
      const value = this.#values[field]
      if (value !== undefined) properties[this.#names[field]!] = JSON.parse(value)
    }
    const identity = batch.identities[row] ?? ''
    const target = this.#target
    if (target.kind === 'groups') {
      return { distinctId: '', groups: { [target.type]: identity }, groupProperties: { [target.type]: properties } }
    }
    const id = batch.ids[row]
    const cohorts = id === undefined ? undefined : batch.cohorts.get(id)
    const hashKeyOverrides = id === undefined ? undefined : batch.hashKeys.get(id)
    return {
      distinctId: identity,
      personProperties: properties,
      inStaticCohort: cohortId => cohorts?.has(cohortId) ?? false,
      ...(hashKeyOverrides && { hashKeyOverrides }),
    }
  }
}

/** In doubt yes, which costs time and never a right answer. */
const mentions = ({ definitions }: Question, name: string): boolean =>
  [...definitions.flags, ...definitions.cohorts].some(({ filters }) =>
    JSON.stringify(filters).includes(JSON.stringify(name)),
  )

function ask({ definitions, key }: Question, now: number): Asked {
  const snapshot = compile(definitions, { regex: linearRegex })
  const flagIndex = snapshot.indexOf(key)
  if (flagIndex === undefined) throw new Error(`There is no flag "${key}" in the question.`)
  return { snapshot, flagIndex, options: definitions.flags.length === 1 ? { now } : { keys: [key], now } }
}
