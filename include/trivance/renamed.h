/*
 * The names of earlier versions. Each is a macro that expands to an unknown identifier, so that the compiler's error
 * contains the new name; CHANGELOG.md has the table, and the new parameters.
 *
 * Stability: stable.
 */
#ifndef TRIVANCE_RENAMED_H
#define TRIVANCE_RENAMED_H

/* Until version 0.2. */
#define trv_hub_t             trv_hub_t_is_now_trv_loopback_t
#define trv_hub_create        trv_hub_create_is_now_trv_loopback_create
#define trv_hub_destroy       trv_hub_destroy_is_now_trv_loopback_destroy
#define trv_hub_transport     trv_hub_transport_is_now_trv_loopback_transport
#define trv_planned_t         trv_planned_t_is_now_trv_planner_choice_t
#define trv_node_plan_t       trv_node_plan_t_is_now_trv_planner_node_choice_t
#define trv_schedule_spell    trv_schedule_spell_is_now_trv_schedule_full_name
#define trv_schedule_spell_on trv_schedule_spell_on_is_now_trv_schedule_full_name_on
#define trv_schedule_place    trv_schedule_place_is_now_trv_schedule_embed
#define trv_plan_start_fed    trv_plan_start_fed_is_now_trv_plan_start_streamed
#define trv_plan_feed         trv_plan_feed_is_now_trv_plan_input_ready
#define trv_plan_ready        trv_plan_ready_is_now_trv_plan_output_ready
#define TRV_SPELLED_MAX       TRV_SPELLED_MAX_is_now_TRV_FULL_NAME_MAX

#endif
