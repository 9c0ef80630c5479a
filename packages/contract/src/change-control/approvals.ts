import Type, { type Static } from 'typebox'
import { ActivityChange } from '../flags/activity.ts'
import { UserBasic } from '../organizations/users.ts'
import { Page, pageQuery } from '../page.ts'
import { inProject, routesOf } from '../route.ts'
import {
  Bool,
  FreeObject,
  FreeObjectInput,
  IdInput,
  IdParam,
  Instant,
  InstantInput,
  Integer,
  kibibyte,
  List,
  mebibyte,
  NamedObject,
  Nullable,
  ObjectOf,
  ProjectParams,
  Text,
  TextInput,
} from '../schema.ts'
import type { Scope } from '../scopes.ts'

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
  'and variant, and every other way to release a flag to more people. What can never hold is refused.'

/** Maximum number of approvers, of approvals and of hours of a policy. */
export const approversMax = 100
export const quorumMax = 20
export const expiresAfterHoursMax = 24 * 365

const ApproverConfig = NamedObject('ApproverConfig', 'Who can approve, and how many have to.', {
  quorum: Integer('How many approvals are needed.', 1),
  users: List(Type.Integer(), 'Ids of users who can approve.', [7]),
  roles: List(Type.String(), 'Ids of roles whose members can approve.', []),
})
const ApproverConfigInput = ObjectOf('Without users and roles, every admin can approve.', {
  quorum: Type.Optional(
    Type.Integer({ minimum: 1, maximum: quorumMax, description: 'How many approvals are needed; default 1.' }),
  ),
  users: Type.Optional(
    Type.Array(Type.Integer(), { maxItems: approversMax, description: 'Ids of users who can approve.' }),
  ),
  roles: Type.Optional(
    Type.Array(IdInput(), { maxItems: approversMax, description: 'Ids of roles whose members can approve.' }),
  ),
})

export const ApprovalPolicy = NamedObject(
  'ApprovalPolicy',
  'Which changes of a project need approval, and by which users.',
  {
    id: Integer('Unique id of the policy.', 3),
    action_key: Text('What needs approval.', 'feature_flag.update'),
    conditions: FreeObject(conditionText, {}),
    approver_config: ApproverConfig,
    allow_self_approve: Bool('Whether the requester can approve the own request.'),
    allow_keys: Bool('Whether personal API keys can decide, not only signed-in people.'),
    expires_after_hours: Integer('A request that is not approved by then expires.', 336),
    reapprove_percent: Nullable(Integer('See the request body of the policy.', 10)),
    reapprove_people: Nullable(Integer('See the request body of the policy.', 1000)),
    emergency_roles: List(
      Type.String(),
      'Ids of roles whose members can send `X-Halyard-Emergency`, besides owners.',
      [],
    ),
    enabled: Bool('Whether the policy is in force.', true),
    created_by: UserBasic,
    created_at: Instant('When the policy was created.'),
    updated_at: Instant('When the policy was last changed.'),
  },
)
export type ApprovalPolicy = Static<typeof ApprovalPolicy>

const policyFields = {
  action_key: Type.Optional(ActionKey),
  conditions: Type.Optional(FreeObjectInput(16 * kibibyte, conditionText, {})),
  approver_config: Type.Optional(ApproverConfigInput),
  allow_self_approve: Type.Optional(Bool('Whether the requester can approve the own request; default false.')),
  allow_keys: Type.Optional(
    Bool(
      'Whether personal API keys with the scope `change_request:decide` can decide, not only signed-in people; default false.',
    ),
  ),
  expires_after_hours: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: expiresAfterHoursMax,
      description: 'A request that is not approved by then expires; default 14 days.',
    }),
  ),
  reapprove_percent: Type.Optional(
    Nullable(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000,
        description:
          'Approval is needed again when the people affected have grown by more percent since; default 10, null for no limit.',
      }),
    ),
  ),
  reapprove_people: Type.Optional(
    Nullable(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000_000,
        description: 'The same for a number of people; default 1000.',
      }),
    ),
  ),
  emergency_roles: Type.Optional(
    Type.Array(IdInput(), {
      maxItems: approversMax,
      description: 'Ids of roles whose members can send `X-Halyard-Emergency`, besides owners.',
    }),
  ),
  enabled: Type.Optional(Bool('Whether the policy is in force; default true.')),
}
const PolicyWrite = Type.Object(policyFields)
export type ApprovalPolicyWrite = Static<typeof PolicyWrite>

const policies = '/api/projects/:project_id/approval_policies' as const
const PolicyParams = Type.Object({ ...ProjectParams.properties, policy_id: IdParam('Id of the policy.') })

const policiesRoute = routesOf('Approval policies', { params: ProjectParams })
const policyRoute = routesOf('Approval policies', { params: PolicyParams })

const requestsRoute = routesOf('Change requests', { params: ProjectParams })
const requestRoute = routesOf('Change requests')

export const approvalPolicyRoutes = {
  list: policiesRoute.get(policies, {
    operationId: 'listApprovalPolicies',
    summary: 'List the approval policies of the project, newest first',
    description: 'Returns a page of policies. Every member can read them.',
    access: inProject('feature_flag:read'),
    query: Type.Object({
      ...pageQuery,
      action_key: Type.Optional(Text('Only policies for this action.')),
      enabled: Type.Optional(Text('`true` or `false`.')),
    }),
    responses: { 200: Page(ApprovalPolicy) },
  }),
  create: policiesRoute.post(policies, {
    operationId: 'createApprovalPolicy',
    summary: 'Require approval for changes of flags or cohorts (admin)',
    description:
      'From then on, changes that the policy names answer 409 with the change request that they open. Switching a flag off stays possible unless a policy names it.',
    access: inProject('policy:write'),
    body: Type.Object({ ...policyFields, action_key: ActionKey }),
    responses: { 201: ApprovalPolicy },
  }),
  get: policyRoute.get(`${policies}/:policy_id`, {
    operationId: 'getApprovalPolicy',
    summary: 'Get an approval policy',
    description: 'Returns one policy with its conditions and approvers.',
    access: inProject('feature_flag:read'),
    responses: { 200: ApprovalPolicy },
  }),
  update: policyRoute.patch(`${policies}/:policy_id`, {
    operationId: 'updateApprovalPolicy',
    summary: 'Change an approval policy (admin); requests that it no longer holds are released',
    description:
      'Changes only the fields that the body contains. The change is recorded in the activity of the project.',
    access: inProject('policy:write'),
    body: PolicyWrite,
    responses: { 200: ApprovalPolicy },
  }),
  remove: policyRoute.delete(`${policies}/:policy_id`, {
    operationId: 'deleteApprovalPolicy',
    summary: 'Delete an approval policy (admin); requests that only it held are released',
    description: 'The deletion is recorded in the activity of the project.',
    access: inProject('policy:write'),
    responses: { 204: null },
  }),
}

const Impact = (description: string) =>
  ObjectOf(description, {
    affected: Integer('People whose value would change.', 120),
    gains: Integer('People who would get the flag.', 120),
    losses: Integer('People who would lose the flag.', 0),
  })

const Approval = NamedObject('Approval', 'A decision about a change request.', {
  created_by: UserBasic,
  decision: Type.String({ enum: ['approved', 'rejected'], description: 'What was decided.' }),
  reason: Text('Why.', 'Looks right.'),
  created_at: Instant('When it was decided.'),
  is_current: Bool('False for a decision about earlier content: it does not count.'),
})

const requestFields = {
  id: Integer('Unique id of the request.', 21),
  action_key: Text('The main action of the change.', 'feature_flag.update'),
  resource_type: Type.String({
    enum: ['feature_flag', 'cohort', 'scheduled_change'],
    description: 'What would be changed.',
  }),
  resource_id: Nullable(Text('Id of the flag or cohort; null for a flag to be created.', '12')),
  state: Text(
    '`pending`, `approved`, `applied`, `rejected`, `cancelled`, `expired`, `failed`, or `conflicted`: approved, but ' +
      'another change touched the same field, so that it needs a rebase.',
    'pending',
  ),
  title: Text('What the change is about.', 'Update new-checkout'),
  reason: Text('Why the change is requested.', 'The experiment is over.'),
  intent: FreeObject('The fields that would change, with their new values.', { name: 'The checkout with one page' }),
  base: FreeObject('The same fields as they were when the request was opened or rebased.', { name: '' }),
  base_version: Nullable(Integer('The version that the request is based on.', 4)),
  content_hash: Text('Identifies the content. Decisions hold for one content only.'),
  impact: Nullable(Impact('How many people it concerned when it was opened; null when that was not counted.')),
  created_by: UserBasic,
  through: Nullable(Text('Label of the key that was used.', 'ci')),
  created_at: Instant('When the request was opened.'),
  updated_at: Instant('When the request last changed.'),
  expires_at: Instant('When the request expires unless it is approved.'),
  apply_at: Nullable(Instant('When it is applied, once it is approved; null for at once.')),
  next_attempt_at: Nullable(Instant('When it is looked at again; null once nothing is left to do.')),
  applied_at: Nullable(Instant('When the change was applied.', null)),
  applied_by: Nullable(UserBasic),
  applied_version: Nullable(Integer('The version that applying it made.', null)),
  apply_error: Nullable(Text('Why it failed, conflicts or waits.', null)),
  emergency_reason: Nullable(Text('Set when the change bypassed its policies.', null)),
  review: Nullable(
    Type.Object(
      {
        note: Text('What the review found.'),
        reviewed_by: UserBasic,
        reviewed_at: Instant('When the review was closed.'),
      },
      { description: 'The review of an emergency change; null until it is closed.', examples: [null] },
    ),
  ),
  approvals: List(Approval, 'Decisions, in the order in which they were made.'),
  is_requester: Bool('Whether the caller opened the request.', false),
  user_decision: Nullable(Text("The caller's decision about the present content.")),
}
export const ChangeRequest = NamedObject('ChangeRequest', 'A change that waits for approval, or waited.', requestFields)
export type ChangeRequest = Static<typeof ChangeRequest>

const UncountedApprover = NamedObject(
  'UncountedApprover',
  'An approver who is not independent of the requester, and why.',
  {
    ...UserBasic.properties,
    reason: Type.Union(
      [
        Type.Literal('invited_by_requester'),
        Type.Literal('provisioned_by_requester'),
        Type.Literal('promoted_by_requester'),
        Type.Literal('created_by_requester'),
        Type.Literal('invited_requester'),
        Type.Literal('provisioned_requester'),
        Type.Literal('created_requester'),
      ],
      {
        description: 'How the two accounts depend on each other. `created` is said of accounts of keys and tokens.',
        examples: ['invited_by_requester'],
      },
    ),
    is_indirect: Bool('Whether it happened through other accounts.', false),
  },
)

export const ChangeRequestDetail = NamedObject(
  'ChangeRequestDetail',
  'A change request with what applying it now would change.',
  {
    ...requestFields,
    can_approve: Bool('Whether the caller can decide about it now.'),
    completes_approval: Bool("Whether the caller's approval is the last one needed, so that it applies the change."),
    can_cancel: Bool('Whether the caller can cancel it now.'),
    can_claim: Bool('Whether the requester left, so that another member can take it over.'),
    frozen_until: Nullable(Instant('The end of the freeze that holds it up; null when none does.', null)),
    policies: List(
      Type.Object({
        id: Integer('Id of the policy.', 3),
        action_key: Text('What the policy names.', 'feature_flag.update'),
        quorum: Integer('How many approvals it needs.', 1),
        approved: Integer('Approvals that count.'),
        is_satisfied: Bool('Whether it has enough approvals.'),
      }),
      'The policies that the change meets now.',
    ),
    uncounted_approvers: List(
      UncountedApprover,
      'Approvers whose approval does not count: accounts that the requester invited, provisioned or promoted in the last 30 days, and those that invited or provisioned the requester; also through others.',
      [],
    ),
    changes: List(ActivityChange, 'What applying it now would change, field by field.'),
    conflicts: List(Type.String(), 'Paths that were changed differently since.', []),
    current: FreeObject('The same fields as they are now.', { name: '' }),
    impact_now: Nullable(Impact('How many people applying it now would concern; null when that cannot be counted.')),
    dependents: List(
      Type.Object({
        id: Integer('Id of the flag.', 13),
        key: Text('Key of the flag.', 'pricing-test'),
      }),
      'Active flags that depend on the flag.',
    ),
    scheduled_changes: List(Type.Integer(), 'Ids of pending scheduled changes of the flag.', []),
  },
)
export type ChangeRequestDetail = Static<typeof ChangeRequestDetail>

const requests = '/api/projects/:project_id/change_requests' as const
const RequestParams = Type.Object({ ...ProjectParams.properties, request_id: IdParam('Id of the change request.') })
const reasonCharactersMax = 2000
const Reason = Type.Optional(TextInput(reasonCharactersMax, 'Why.', 'Looks right.'))
const Outcome = NamedObject('ChangeRequestOutcome', 'What became of a change request.', {
  status: Text('The state of the request after the action.', 'applied'),
  message: Text('The state in words.', 'The change was applied.'),
  change_request: ChangeRequestDetail,
})
const action = <const P extends string, B extends Record<string, ReturnType<typeof Type.Optional>>>(
  name: P,
  {
    operationId,
    summary,
    description,
    scope = 'feature_flag:write',
  }: { operationId: string; summary: string; description: string; scope?: Scope },
  body: B,
) =>
  requestRoute.post(`${requests}/:request_id/${name}`, {
    operationId,
    summary,
    description,
    access: inProject(scope),
    params: RequestParams,
    body: Type.Object(body),
    bodyOptional: true,
    mayConflict: true,
    responses: { 200: Outcome },
  })

export const changeRequestRoutes = {
  list: requestsRoute.get(requests, {
    operationId: 'listChangeRequests',
    summary: 'List the change requests of the project, newest first',
    description: 'Returns a page of requests with their decisions. `mine=1` is the inbox of the caller.',
    access: inProject('feature_flag:read'),
    query: Type.Object({
      ...pageQuery,
      state: Type.Optional(Text('One or more states, separated by commas.')),
      action_key: Type.Optional(Text('Only requests with this main action.')),
      resource_type: Type.Optional(Text('`feature_flag` (default) or `cohort`, for `resource_id`.')),
      resource_id: Type.Optional(Text('Id of the flag or cohort.')),
      requester: Type.Optional(Text('User id.')),
      mine: Type.Optional(Text('`1`: pending requests that wait for the decision of the caller.')),
      review: Type.Optional(Text('`open`: emergency changes whose review is not closed.')),
    }),
    responses: { 200: Page(ChangeRequest) },
  }),
  get: requestRoute.get(`${requests}/:request_id`, {
    operationId: 'getChangeRequest',
    summary: 'Get a change request with what applying it now would change, its impact and its policies',
    description: 'Counts the people concerned, so it takes longer than the list.',
    access: inProject('feature_flag:read'),
    params: RequestParams,
    responses: { 200: ChangeRequestDetail },
  }),
  create: requestsRoute.post(requests, {
    operationId: 'createChangeRequest',
    summary: 'Request a change of a flag, or a new flag, to be approved and applied later',
    description:
      'Opens a request whether or not a policy asks for it; without a matching policy it is approved at once.',
    access: inProject('feature_flag:write'),
    body: Type.Object({
      flag_id: Type.Optional(Integer('Absent for a new flag.')),
      patch: FreeObjectInput(4 * mebibyte, 'Writable fields of the flag.', { name: 'The checkout with one page' }),
      title: Type.Optional(TextInput(200, 'What the change is about.')),
      reason: Reason,
      apply_at: Type.Optional(InstantInput('When it is applied, once it is approved.')),
      dry_run: Type.Optional(Bool('Returns the request that would be opened (id 0).')),
    }),
    mayConflict: true,
    responses: { 201: ChangeRequest, 200: ChangeRequest },
  }),
  approve: action(
    'approve',
    {
      operationId: 'approveChangeRequest',
      scope: 'change_request:decide',
      summary: 'Approve the request; the last approval needed applies it',
      description: 'Only approvals of the present content count. Apply it later by `apply_at`.',
    },
    {
      reason: Reason,
      content_hash: Type.Optional(TextInput(64, 'The content that was reviewed; 409 when it has changed.')),
    },
  ),
  reject: action(
    'reject',
    {
      operationId: 'rejectChangeRequest',
      scope: 'change_request:decide',
      summary: 'Reject the request; a reason is required',
      description: 'One rejection by a user who can approve ends the request.',
    },
    { reason: Reason },
  ),
  cancel: action(
    'cancel',
    {
      operationId: 'cancelChangeRequest',
      summary: 'Cancel the own request (an admin can cancel any)',
      description: 'A request that was applied or has ended cannot be cancelled.',
    },
    { reason: Reason },
  ),
  claim: action(
    'claim',
    {
      operationId: 'claimChangeRequest',
      scope: 'change_request:decide',
      summary: 'Take over the request of someone who left the organization',
      description:
        'The caller becomes the requester: the caller’s own approval then counts only where the policy allows it.',
    },
    { reason: Reason },
  ),
  apply: action(
    'apply',
    {
      operationId: 'applyChangeRequest',
      scope: 'change_request:decide',
      summary: 'Apply an approved request now',
      description: 'Usually not needed: the last approval applies the request, and a job applies what is due.',
    },
    {},
  ),
  rebase: action(
    'rebase',
    {
      operationId: 'rebaseChangeRequest',
      summary: 'Put the request on top of the present flag; its decisions are void',
      description:
        'Merges by condition, variants and payload. The result is another content, which needs approval again.',
    },
    {
      resolve: Type.Optional(
        Type.Union([Type.Literal('mine'), Type.Literal('theirs')], {
          description: 'Which side wins where both changed the same; without it a conflict is a 409.',
        }),
      ),
    },
  ),
  reschedule: action(
    'reschedule',
    {
      operationId: 'rescheduleChangeRequest',
      summary: 'Change when the request is applied; its decisions are void',
      description:
        'Another time is another content, which needs approval again. `null` applies it once it is approved.',
    },
    {
      apply_at: Type.Optional(
        Nullable(InstantInput('When it is applied, once it is approved; null for at once. Required.')),
      ),
      reason: Reason,
    },
  ),
  review: action(
    'review',
    {
      operationId: 'reviewChangeRequest',
      scope: 'change_request:decide',
      summary: 'Close the review of an emergency change',
      description: 'An admin other than the requester states what the review found.',
    },
    { note: Reason },
  ),
}
