import Type, { type Static } from 'typebox'
import { ActivityChange } from './activity.ts'
import { Page, pageQuery } from './page.ts'
import { inProject, route } from './route.ts'
import {
  FreeObject,
  FreeObjectInput,
  IdInput,
  IdParam,
  Instant,
  InstantInput,
  kibibyte,
  mebibyte,
  Nullable,
  ProjectParams,
} from './schema.ts'
import { UserBasic } from './users.ts'

const ActionKey = Type.Union(
  [
    Type.Literal('feature_flag.create'),
    Type.Literal('feature_flag.update'),
    Type.Literal('feature_flag.rollout'),
    Type.Literal('feature_flag.enable'),
    Type.Literal('feature_flag.disable'),
    Type.Literal('feature_flag.delete'),
    Type.Literal('cohort.update'),
    Type.Literal('*'),
  ],
  { description: 'What needs approval. `*` is everything except switching a flag off.' },
)

const conditionText =
  'Which changes need approval: `{}` for all, or `{type}` with `any_change` (`field`), `before_after` and ' +
  '`change_amount` (`field`, `operator`, `value`), `people_affected` and `losses` (`value`: more people than this), ' +
  '`tag` (`value`), `author_is_key`, or `all` (`conditions`). The field `rollout_percentage` covers every condition ' +
  'and variant.'

/** Maximum number of approvers, of approvals and of hours of a policy. */
export const approversMax = 100
export const quorumMax = 20
export const expiresAfterHoursMax = 24 * 365

const ApproverConfig = Type.Object({
  quorum: Type.Integer({ description: 'How many approvals are needed.' }),
  users: Type.Array(Type.Integer(), { description: 'Ids of users who can approve.' }),
  roles: Type.Array(Type.String(), { description: 'Ids of roles whose members can approve.' }),
})
const ApproverConfigInput = Type.Object(
  {
    quorum: Type.Optional(Type.Integer({ minimum: 1, maximum: quorumMax })),
    users: Type.Optional(Type.Array(Type.Integer(), { maxItems: approversMax })),
    roles: Type.Optional(Type.Array(IdInput(), { maxItems: approversMax })),
  },
  { description: 'Without users and roles, every admin can approve.' },
)

export const ApprovalPolicy = Type.Object({
  id: Type.Integer(),
  action_key: Type.String(),
  conditions: FreeObject(conditionText),
  approver_config: ApproverConfig,
  allow_self_approve: Type.Boolean({ description: 'Whether the requester can approve the own request.' }),
  expires_after_hours: Type.Integer({ description: 'A request that is not approved by then expires.' }),
  enabled: Type.Boolean(),
  created_by: UserBasic,
  created_at: Instant(),
  updated_at: Instant(),
})
export type ApprovalPolicy = Static<typeof ApprovalPolicy>

const policyFields = {
  action_key: Type.Optional(ActionKey),
  conditions: Type.Optional(FreeObjectInput(16 * kibibyte, conditionText)),
  approver_config: Type.Optional(ApproverConfigInput),
  allow_self_approve: Type.Optional(Type.Boolean()),
  expires_after_hours: Type.Optional(Type.Integer({ minimum: 1, maximum: expiresAfterHoursMax })),
  enabled: Type.Optional(Type.Boolean()),
}
const PolicyWrite = Type.Object(policyFields)
export type ApprovalPolicyWrite = Static<typeof PolicyWrite>

const policyTag = 'Approval policies'
const policies = '/api/projects/:project_id/approval_policies' as const
const PolicyParams = Type.Object({ ...ProjectParams.properties, policy_id: IdParam() })

export const approvalPolicyRoutes = {
  list: route({
    method: 'GET',
    path: policies,
    tag: policyTag,
    summary: 'List the approval policies of the project, newest first',
    access: inProject('feature_flag:read'),
    params: ProjectParams,
    query: Type.Object({
      ...pageQuery,
      action_key: Type.Optional(Type.String({ description: 'Only policies for this action.' })),
      enabled: Type.Optional(Type.String({ description: '`true` or `false`.' })),
    }),
    answers: { 200: Page(ApprovalPolicy) },
  }),
  create: route({
    method: 'POST',
    path: policies,
    tag: policyTag,
    summary: 'Require approval for changes of flags or cohorts (admin)',
    access: inProject('feature_flag:write'),
    params: ProjectParams,
    body: Type.Object({ ...policyFields, action_key: ActionKey }),
    answers: { 201: ApprovalPolicy },
  }),
  get: route({
    method: 'GET',
    path: `${policies}/:policy_id`,
    tag: policyTag,
    summary: 'Get an approval policy',
    access: inProject('feature_flag:read'),
    params: PolicyParams,
    answers: { 200: ApprovalPolicy },
  }),
  update: route({
    method: 'PATCH',
    path: `${policies}/:policy_id`,
    tag: policyTag,
    summary: 'Change an approval policy (admin); requests that it no longer holds are released',
    access: inProject('feature_flag:write'),
    params: PolicyParams,
    body: PolicyWrite,
    answers: { 200: ApprovalPolicy },
  }),
  remove: route({
    method: 'DELETE',
    path: `${policies}/:policy_id`,
    tag: policyTag,
    summary: 'Delete an approval policy (admin); requests that only it held are released',
    access: inProject('feature_flag:write'),
    params: PolicyParams,
    answers: { 204: null },
  }),
}

const Impact = Type.Object({
  affected: Type.Integer({ description: 'People whose value would change.' }),
  gains: Type.Integer({ description: 'People who would get the flag.' }),
  losses: Type.Integer({ description: 'People who would lose the flag.' }),
})

const Approval = Type.Object({
  created_by: UserBasic,
  decision: Type.String({ description: '`approved` or `rejected`.' }),
  reason: Type.String(),
  created_at: Instant(),
  is_current: Type.Boolean({ description: 'False for a decision about earlier content: it does not count.' }),
})

const requestFields = {
  id: Type.Integer(),
  action_key: Type.String(),
  resource_type: Type.String({ description: '`feature_flag`, `cohort` or `scheduled_change`.' }),
  resource_id: Nullable(Type.String({ description: 'Id of the flag or cohort; null for a flag to be created.' })),
  state: Type.String({
    description:
      '`pending`, `approved`, `applied`, `rejected`, `cancelled`, `expired`, `failed`, or `conflicted`: approved, but ' +
      'another change touched the same field, so that it needs a rebase.',
  }),
  title: Type.String(),
  reason: Type.String(),
  intent: FreeObject('The fields that would change, with their new values.'),
  base: FreeObject('The same fields as they were when the request was opened or rebased.'),
  base_version: Nullable(Type.Integer()),
  content_hash: Type.String({ description: 'Identifies the content. Decisions hold for one content only.' }),
  impact: Nullable(Impact),
  created_by: UserBasic,
  through: Nullable(Type.String({ description: 'Label of the key that was used.' })),
  created_at: Instant(),
  updated_at: Instant(),
  expires_at: Instant(),
  apply_at: Nullable(Instant('When it is applied, once it is approved; null for at once.')),
  next_attempt_at: Nullable(Instant('When it is looked at again; null once nothing is left to do.')),
  applied_at: Nullable(Instant()),
  applied_by: Nullable(UserBasic),
  applied_version: Nullable(Type.Integer()),
  apply_error: Nullable(Type.String({ description: 'Why it failed, conflicts or waits.' })),
  emergency_reason: Nullable(Type.String({ description: 'Set when the change bypassed its policies.' })),
  review: Nullable(
    Type.Object(
      { note: Type.String(), reviewed_by: UserBasic, reviewed_at: Instant() },
      {
        description: 'The review of an emergency change; null until it is closed.',
      },
    ),
  ),
  approvals: Type.Array(Approval),
  is_requester: Type.Boolean(),
  user_decision: Nullable(Type.String({ description: "The caller's decision about the present content." })),
}
export const ChangeRequest = Type.Object(requestFields)
export type ChangeRequest = Static<typeof ChangeRequest>

export const ChangeRequestDetail = Type.Object({
  ...requestFields,
  can_approve: Type.Boolean(),
  can_cancel: Type.Boolean(),
  policies: Type.Array(
    Type.Object({
      id: Type.Integer(),
      action_key: Type.String(),
      quorum: Type.Integer(),
      approved: Type.Integer({ description: 'Approvals that count.' }),
      is_satisfied: Type.Boolean(),
    }),
    { description: 'The policies that the change meets now.' },
  ),
  changes: Type.Array(ActivityChange, { description: 'What applying it now would change, field by field.' }),
  conflicts: Type.Array(Type.String(), { description: 'Paths that were changed differently since.' }),
  current: FreeObject('The same fields as they are now.'),
  impact_now: Nullable(Impact),
  dependents: Type.Array(Type.Object({ id: Type.Integer(), key: Type.String() })),
  scheduled_changes: Type.Array(Type.Integer(), { description: 'Ids of pending scheduled changes of the flag.' }),
})
export type ChangeRequestDetail = Static<typeof ChangeRequestDetail>

const requestTag = 'Change requests'
const requests = '/api/projects/:project_id/change_requests' as const
const RequestParams = Type.Object({ ...ProjectParams.properties, request_id: IdParam() })
const reasonCharactersMax = 2000
const Reason = Type.Optional(Type.String({ maxLength: reasonCharactersMax }))
const Outcome = Type.Object({
  status: Type.String({ description: 'The state of the request after the action.' }),
  message: Type.String(),
  change_request: ChangeRequestDetail,
})
const action = <const P extends string, B extends Record<string, ReturnType<typeof Type.Optional>>>(
  name: P,
  summary: string,
  body: B,
) =>
  route({
    method: 'POST',
    path: `${requests}/:request_id/${name}`,
    tag: requestTag,
    summary,
    access: inProject('feature_flag:write'),
    params: RequestParams,
    body: Type.Object(body),
    bodyOptional: true,
    answers: { 200: Outcome },
  })

export const changeRequestRoutes = {
  list: route({
    method: 'GET',
    path: requests,
    tag: requestTag,
    summary: 'List the change requests of the project, newest first',
    access: inProject('feature_flag:read'),
    params: ProjectParams,
    query: Type.Object({
      ...pageQuery,
      state: Type.Optional(Type.String({ description: 'One or more states, separated by commas.' })),
      action_key: Type.Optional(Type.String()),
      resource_type: Type.Optional(
        Type.String({ description: '`feature_flag` (default) or `cohort`, for `resource_id`.' }),
      ),
      resource_id: Type.Optional(Type.String({ description: 'Id of the flag or cohort.' })),
      requester: Type.Optional(Type.String({ description: 'User id.' })),
      mine: Type.Optional(
        Type.String({ description: '`1`: pending requests that wait for the decision of the caller.' }),
      ),
      review: Type.Optional(Type.String({ description: '`open`: emergency changes whose review is not closed.' })),
    }),
    answers: { 200: Page(ChangeRequest) },
  }),
  get: route({
    method: 'GET',
    path: `${requests}/:request_id`,
    tag: requestTag,
    summary: 'Get a change request with what applying it now would change, its impact and its policies',
    access: inProject('feature_flag:read'),
    params: RequestParams,
    answers: { 200: ChangeRequestDetail },
  }),
  create: route({
    method: 'POST',
    path: requests,
    tag: requestTag,
    summary: 'Request a change of a flag, or a new flag, to be approved and applied later',
    access: inProject('feature_flag:write'),
    params: ProjectParams,
    body: Type.Object({
      flag_id: Type.Optional(Type.Integer({ description: 'Absent for a new flag.' })),
      patch: FreeObjectInput(4 * mebibyte, 'Writable fields of the flag.'),
      title: Type.Optional(Type.String({ maxLength: 200 })),
      reason: Reason,
      apply_at: Type.Optional(InstantInput('When it is applied, once it is approved.')),
      dry_run: Type.Optional(Type.Boolean({ description: 'Returns the request that would be opened (id 0).' })),
    }),
    answers: { 201: ChangeRequest, 200: ChangeRequest },
  }),
  approve: action('approve', 'Approve the request; the last approval needed applies it', {
    reason: Reason,
    content_hash: Type.Optional(
      Type.String({ maxLength: 64, description: 'The content that was reviewed; 409 when it has changed.' }),
    ),
  }),
  reject: action('reject', 'Reject the request; a reason is required', { reason: Reason }),
  cancel: action('cancel', 'Cancel the own request (an admin can cancel any)', { reason: Reason }),
  apply: action('apply', 'Apply an approved request now', {}),
  rebase: action('rebase', 'Put the request on top of the present flag; its decisions are void', {
    resolve: Type.Optional(
      Type.Union([Type.Literal('mine'), Type.Literal('theirs')], {
        description: 'Which side wins where both changed the same; without it a conflict is a 409.',
      }),
    ),
  }),
  review: action('review', 'Close the review of an emergency change', { note: Reason }),
}
