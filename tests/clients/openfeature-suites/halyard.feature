Feature: Halyard's flags through OpenFeature

  Background:
    Given a stable provider

  Scenario Outline: A flag resolves in its own type, with a variant
    Given a <type>-flag with key "<key>" and a fallback value "<default>"
    When the flag was evaluated with details
    Then the resolved details value should be "<value>"
    And the variant should be "<variant>"
    And the reason should be "STATIC"

    Examples:
      | type    | key              | default | value | variant |
      | Boolean | boolean-flag     | false   | true  | on      |
      | String  | string-flag      | none    | hi    | hi      |
      | Integer | integer-flag     | 1       | 10    | ten     |
      | Object  | object-zero-flag | [1]     | {}    | zero    |

  Scenario Outline: A value for some people is a match for them and the default for others
    Given a Boolean-flag with key "boolean-targeted-zero-flag" and a fallback value "true"
    And a context containing a key "email", with type "String" and with value "<email>"
    When the flag was evaluated with details
    Then the resolved details value should be "false"
    And the reason should be "<reason>"

    Examples:
      | email                 | reason          |
      | ballmer@macrosoft.com | TARGETING_MATCH |
      | someone@example.com   | DEFAULT         |

  Scenario Outline: The default in the code applies without a value
    Given a <type>-flag with key "<key>" and a fallback value "<default>"
    When the flag was evaluated with details
    Then the resolved details value should be "<default>"
    And the reason should be "<reason>"

    Examples:
      | type    | key                   | default | reason   |
      | Integer | integer-disabled-flag | 3       | DISABLED |
      | Boolean | no-such-flag          | true    | ERROR    |
      | Integer | boolean-flag          | 3       | ERROR    |

  Scenario Outline: The status of a provider
    Given a <state> provider
    Then the provider status should be "<status>"

    Examples:
      | state     | status    |
      | not ready | NOT_READY |
      | error     | ERROR     |
      | fatal     | FATAL     |
      | stale     | STALE     |

  Scenario: A hook receives the details
    Given a client with added hook
    And a boolean-flag with key "wrong-flag" and a fallback value "false"
    When the flag was evaluated with details
    Then the "before" hook should have been executed
    And the "finally" hooks should be called with evaluation details
      | data_type | key        | value         |
      | string    | flag_key   | wrong-flag    |
      | string    | reason     | ERROR         |
      | string    | error_code | TYPE_MISMATCH |
