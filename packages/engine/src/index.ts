// definition/  flag and cohort definitions: parsing, operators, issues
// compile/     filters become numbered predicates, flags become plans; match/ holds the operators
// evaluate/    decide-flag.ts decides one flag for one subject; everything else feeds it
// hash/        SHA-1 buckets: JavaScript, and a SIMD kernel in WebAssembly behind hashAll()
// explain/     the trace of a decision, filter by filter
// releases/    to how many more people a change of a flag releases it
export { checkCohort, checkFlag } from './compile/check.ts'
export type { CompiledFlag } from './compile/compiler.ts'
export type { Requirements } from './compile/requirements.ts'
export { type BucketingAlgorithmName, bucketingAlgorithmNames } from './definition/bucketing-algorithm-name.ts'
export { type Coverage, coverageOf } from './definition/coverage.ts'
export type {
  CohortDefinition,
  Definitions,
  EngineOptions,
  EventHistory,
  FlagDefinition,
  Matcher,
  OverrideDefinition,
  Subject,
} from './definition/definition.ts'
export type { Issue, IssueCode } from './definition/issue.ts'
export { type Operator, operators, strictOperators } from './definition/operator.ts'
export { type Behavior, behaviorDaysMax, type CountOperator } from './definition/parse-behavior.ts'
export { personCreatedAt } from './definition/parse-property.ts'
export {
  behaviorsIn,
  isBehavioral,
  type Remap,
  remapFilters,
  usesCohorts,
  usesFlags,
  usesOf,
} from './definition/references.ts'
export { hasPayloadValue, parsePayload, type ReturnType, returnTypeOf, typeOfValue } from './definition/return-type.ts'
export { isServerOnly } from './definition/server-only.ts'
export { truncatedId, withDeviceId } from './definition/subject-ids.ts'
export { dayNumber } from './evaluate/event-history.ts'
export { type OpenFeatureReason, type OpenFeatureResult, openFeatureResult } from './evaluate/openfeature.ts'
export { firstCondition, type Outcome, type Reason, type ReasonCode } from './evaluate/outcome.ts'
export type { Results } from './evaluate/results.ts'
export type { FlagValue } from './explain/reachable-values.ts'
export type {
  BehaviorTrace,
  CohortTrace,
  ConditionTrace,
  EnrollmentTrace,
  FilterTrace,
  FlagTrace,
  GroupTrace,
  HoldoutTrace,
  IdentifierTrace,
  PropertyTrace,
  RegexLimit,
  RolloutTrace,
  Trace,
  VariantTrace,
} from './explain/trace.ts'
export { type DependentRelease, dependentReleases, type FlagVersions } from './releases/dependent-releases.ts'
export { type Release, releasesOf } from './releases/release.ts'
export { type Changes, compile, type EvaluateOptions, type ExplainOptions, type Snapshot } from './snapshot.ts'
