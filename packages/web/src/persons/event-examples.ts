/** A request that creates a person, ready to paste. */
export const identifyExample = (token = ''): string =>
  example({
    api_key: token,
    event: '$identify',
    distinct_id: 'user-1',
    properties: { $set: { email: 'ada@example.com', plan: 'pro' } },
  })

/** The same for a group. */
export const groupExample = (token = ''): string =>
  example({
    api_key: token,
    event: '$groupidentify',
    distinct_id: 'user-1',
    properties: { $group_type: 'company', $group_key: 'acme', $group_set: { size: 12 } },
  })

const example = (body: object): string =>
  `curl '${window.location.origin}/e/' \\\n  -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(body, null, 2)}'`
