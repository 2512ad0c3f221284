/*
 * The form of the page, page.html, page.css and page.js as texts; page.c is generated from them (embed.cmake).
 */
#ifndef TRIVANCE_FIGURES_PAGE_H
#define TRIVANCE_FIGURES_PAGE_H

extern const char fig_page_html[], fig_theme_css[], fig_page_css[], fig_page_js[];

#endif
